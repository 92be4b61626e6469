// Prints what Simbody computes for a small model with one constraint: name, and sizes of and numbers
// in qerr, uerr, udoterr at a given udot, udot, multipliers, G, G M^-1 G', Pq and the power.
// Orientations are Euler angles; q = 0.3, 0.5, ..., u = 0.5, 0.2, ..., time = 0.7.
#include "Simbody.h"

#include <cstdio>

using namespace SimTK;

class Coupling : public Function {
public:
    Real calcValue(const Vector& x) const override {
        return x[0] * std::cos(x[2]) + 0.3 * x[1] * x[1] - 0.2 * x[2];
    }
    Real calcDerivative(const Array_<int>& by, const Vector& x) const override {
        if (by.size() != 1) return NaN;
        if (by[0] == 0) return std::cos(x[2]);
        if (by[0] == 1) return 0.6 * x[1];
        return -x[0] * std::sin(x[2]) - 0.2;
    }
    int getArgumentSize() const override { return 3; }
    int getMaxDerivativeOrder() const override { return 2; }
};

static void numbers(const Vector& values) {
    std::printf(" %d", values.size());
    for (int i = 0; i < values.size(); ++i) std::printf(" %.17g", values[i]);
}

static void numbers(const Matrix& values) {
    std::printf(" %d", values.nrow() * values.ncol());
    for (int i = 0; i < values.nrow(); ++i)
        for (int j = 0; j < values.ncol(); ++j) std::printf(" %.17g", values(i, j));
}

template <class Tie>
static void show(const char* name, Tie tie) {
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::Gravity gravity(forces, matter, Vec3(0.5, -9.81, 1));
    Body::Rigid solid(MassProperties(1.5, Vec3(0), Inertia(1.5, 1.8, 2.1)));
    Transform F(Rotation(0.3, ZAxis), Vec3(0.1, 0.2, 0.3));
    Transform M(Rotation(0.2, XAxis), Vec3(-0.1, 0.4, 0.2));
    MobilizedBody::Ball a(matter.Ground(), F, solid, M);
    MobilizedBody::Pin b(a, F, solid, M);
    MobilizedBody::Slider c(matter.Ground(), F, solid, M);
    tie(matter, a, b, c);
    system.realizeTopology();
    State state = system.getDefaultState();
    matter.setUseEulerAngles(state, true);
    system.realizeModel(state);
    state.setTime(0.7);
    // the fourth q of a Ball is not in use
    for (int i : {0, 1, 2, 4, 5}) state.updQ()[i] = 0.3 + 0.2 * (i < 3 ? i : i - 1);
    for (int i = 0; i < state.getNU(); ++i) state.updU()[i] = 0.5 - 0.3 * i;
    system.realize(state, Stage::Acceleration);
    Vector udot(state.getNU()), errors;
    for (int i = 0; i < udot.size(); ++i) udot[i] = 1 - 0.4 * i;
    matter.calcConstraintAccelerationErrors(state, udot, errors);
    Matrix g, projected, pq;
    matter.calcG(state, g);
    matter.calcProjectedMInv(state, projected);
    matter.calcPq(state, pq);
    std::printf("%s", name);
    numbers(state.getQErr());
    numbers(state.getUErr());
    numbers(errors);
    numbers(state.getUDot());
    numbers(state.getMultipliers());
    numbers(g);
    numbers(projected);
    numbers(pq);
    numbers(Vector(1, matter.getConstraint(ConstraintIndex(0)).calcPower(state)));
    std::printf("\n");
}

#define SHOW(KIND, ...)                                                                          \
    show(#KIND, [](SimbodyMatterSubsystem& matter, MobilizedBody& a, MobilizedBody& b,            \
                   MobilizedBody& c) { Constraint::KIND(__VA_ARGS__); })

int main() {
    SHOW(Rod, a, Vec3(0.1, 0.2, 0.3), c, Vec3(-0.2, 0, 0.4), 1.1);
    SHOW(ConstantSpeed, a, MobilizerUIndex(1), 0.7);
    SHOW(ConstantAcceleration, a, MobilizerUIndex(2), 0.7);
    SHOW(SpeedCoupler, matter, new Coupling,
         Array_<MobilizedBodyIndex>({a.getMobilizedBodyIndex(), c.getMobilizedBodyIndex()}),
         Array_<MobilizerUIndex>({MobilizerUIndex(1), MobilizerUIndex(0)}),
         Array_<MobilizedBodyIndex>({a.getMobilizedBodyIndex()}),
         Array_<MobilizerQIndex>({MobilizerQIndex(1)}));
    SHOW(PrescribedMotion, matter, new Function::Sinusoid(0.4, 2, 0.3), a.getMobilizedBodyIndex(),
         MobilizerQIndex(1));
    SHOW(NoSlip1D, a, Vec3(0.1, 0.2, 0.3), UnitVec3(1, -2, 0.5), b, c);
    return 0;
}
