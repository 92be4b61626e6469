// Prints what Simbody computes for a crank with a motion, two bodies that hang from it, and a rod:
// name, then udot of all u, the spatial acceleration of the last body, the acceleration of a station
// of it, the forces of the motion on u, and its power. Motions are at the levels of q, u and udot.
#include "Simbody.h"

#include <cstdio>

using namespace SimTK;

class Feedback : public Motion::Custom::Implementation {
public:
    Motion::Level getLevel(const State&) const override { return Motion::Acceleration; }
    void calcPrescribedAcceleration(const State& s, int n, Real* udot) const override {
        udot[0] = 0.3 - 4 * s.getQ()[0] - 0.5 * s.getU()[0] * s.getU()[0] + std::sin(2 * s.getTime());
    }
};

template <class Move>
static void show(const char* name, bool tied, Move move) {
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::Gravity gravity(forces, matter, Vec3(0.5, -9.81, 1));
    Body::Rigid solid(MassProperties(1.5, Vec3(0.1, 0, 0.2), Inertia(1.5, 1.8, 2.1)));
    Transform F(Rotation(0.3, ZAxis), Vec3(0.1, 0.2, 0.3));
    Transform M(Rotation(0.2, XAxis), Vec3(-0.1, 0.4, 0.2));
    MobilizedBody::Pin crank(matter.Ground(), F, solid, M);
    MobilizedBody::Universal bob(crank, F, solid, M);
    MobilizedBody::Slider block(bob, F, solid, M);
    move(crank);
    if (tied) Constraint::Rod(matter.Ground(), Vec3(1, 0, 0), block, Vec3(0, 0.1, 0), 1.0);
    system.realizeTopology();
    State state = system.getDefaultState();
    system.realizeModel(state);
    state.setTime(0.7);
    for (int i = 0; i < state.getNQ(); ++i) state.updQ()[i] = 0.3 + 0.2 * i;
    for (int i = 0; i < state.getNU(); ++i) state.updU()[i] = 0.5 - 0.3 * i;
    system.realize(state, Stage::Time);
    system.prescribeQ(state);
    system.realize(state, Stage::Position);
    system.prescribeU(state);
    system.realize(state, Stage::Acceleration);
    std::printf("%s%s", name, tied ? ":tied" : "");
    for (int i = 0; i < state.getNU(); ++i) std::printf(" %.17g", state.getUDot()[i]);
    const SpatialVec& motion = block.getBodyAcceleration(state);
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < 3; ++i) std::printf(" %.17g", motion[k][i]);
    const Vec3 tip = block.findStationAccelerationInGround(state, Vec3(0.2, -0.3, 0.1));
    for (int i = 0; i < 3; ++i) std::printf(" %.17g", tip[i]);
    Vector tau;
    matter.findMotionForces(state, tau);
    for (int i = 0; i < tau.size(); ++i) std::printf(" %.17g", tau[i]);
    std::printf(" %.17g\n", matter.calcMotionPower(state));
}

int main() {
    for (bool tied : {false, true}) {
        show("none", tied, [](MobilizedBody&) {});
        show("q", tied, [](MobilizedBody& b) { Motion::Sinusoid(b, Motion::Position, 0.4, 3, 0.2); });
        show("u", tied, [](MobilizedBody& b) { Motion::Sinusoid(b, Motion::Velocity, 0.4, 3, 0.2); });
        show("steady", tied, [](MobilizedBody& b) { Motion::Steady(b, 1.3); });
        show("udot", tied,
             [](MobilizedBody& b) { Motion::Sinusoid(b, Motion::Acceleration, 0.4, 3, 0.2); });
        show("feedback", tied, [](MobilizedBody& b) { Motion::Custom(b, new Feedback()); });
    }
    return 0;
}
