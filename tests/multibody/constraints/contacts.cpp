// Prints what Simbody computes for a small model with one contact: name, and sizes of and numbers in
// q, u, qerr, uerr, udoterr at a given udot, udot, multipliers, G, the force on the second body, the
// place of the contact (a frame, but for a plane), and the power. First q = 0.3, 0.5, ... and
// u = 0.5, 0.2, ..., then the same projected: "Held" in the name.
#include "Simbody.h"

#include <cstdio>

using namespace SimTK;

static void numbers(const Vector& values) {
    std::printf(" %d", values.size());
    for (int i = 0; i < values.size(); ++i) std::printf(" %.17g", values[i]);
}

static void numbers(const Matrix& values) {
    std::printf(" %d", values.nrow() * values.ncol());
    for (int i = 0; i < values.nrow(); ++i)
        for (int j = 0; j < values.ncol(); ++j) std::printf(" %.17g", values(i, j));
}

static void numbers(const Vec3& values) {
    std::printf(" 3 %.17g %.17g %.17g", values[0], values[1], values[2]);
}

static void numbers(const Transform& frame) {
    std::printf(" 12");
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j) std::printf(" %.17g", frame.toMat34()(i, j));
}

using OnPlane = Constraint::SphereOnPlaneContact;
using OnSphere = Constraint::SphereOnSphereContact;
using OnLine = Constraint::LineOnLineContact;

static Vec3 force(const OnPlane& c, const State& s) { return c.findForceOnSphereInG(s); }
static Vec3 force(const OnSphere& c, const State& s) { return c.findForceOnSphereBInG(s); }
static Vec3 force(const OnLine& c, const State& s) { return c.findForceOnBodyBInG(s); }
static Vec3 place(const OnPlane& c, const State& s) { return c.findContactPointInG(s); }
template <class Contact>
static Transform place(const Contact& c, const State& s) { return c.findContactFrameInG(s); }

template <class Contact>
static void show(const char* name, const char* more, const MultibodySystem& system,
                 const SimbodyMatterSubsystem& matter, const Contact& contact, const State& state) {
    system.realize(state, Stage::Acceleration);
    Vector udot(state.getNU()), errors;
    for (int i = 0; i < udot.size(); ++i) udot[i] = 1 - 0.4 * i;
    matter.calcConstraintAccelerationErrors(state, udot, errors);
    Matrix g;
    matter.calcG(state, g);
    std::printf("%s%s", name, more);
    numbers(state.getQ());
    numbers(state.getU());
    numbers(state.getQErr());
    numbers(state.getUErr());
    numbers(errors);
    numbers(state.getUDot());
    numbers(state.getMultipliers());
    numbers(g);
    numbers(force(contact, state));
    numbers(place(contact, state));
    numbers(Vector(1, contact.calcPower(state)));
    std::printf("\n");
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
    MobilizedBody::Gimbal a(matter.Ground(), F, solid, M);
    MobilizedBody::Pin b(a, F, solid, M);
    MobilizedBody::Bushing c(matter.Ground(), F, solid, M);
    auto contact = tie(matter.Ground(), a, b, c);
    system.realizeTopology();
    State state = system.getDefaultState();
    system.realizeModel(state);
    for (int i = 0; i < state.getNQ(); ++i) state.updQ()[i] = 0.3 + 0.2 * i;
    for (int i = 0; i < state.getNU(); ++i) state.updU()[i] = 0.5 - 0.3 * i;
    show(name, "", system, matter, contact, state);
    system.project(state, 1e-12);
    show(name, "Held", system, matter, contact, state);
}

#define BODIES MobilizedBody &ground, MobilizedBody &a, MobilizedBody &b, MobilizedBody &c
#define SHOW_ONE(KIND, NAME, ROLLS, ...)                                                         \
    show(NAME, [](BODIES) { return Constraint::KIND##Contact(__VA_ARGS__, ROLLS); })
#define SHOW(KIND, WHERE, ...)                                                                   \
    SHOW_ONE(KIND, #KIND #WHERE, false, __VA_ARGS__);                                            \
    SHOW_ONE(KIND, #KIND #WHERE "Rolling", true, __VA_ARGS__)

static const Transform P(Rotation(0.4, YAxis) * Rotation(-0.7, XAxis), Vec3(0.2, -0.1, 0.4));
static const Transform Q(Rotation(-0.9, ZAxis) * Rotation(0.5, YAxis), Vec3(-0.3, 0.2, 0.1));
static const Vec3 one(0.1, 0.2, -0.3), two(-0.2, 0.3, 0.4);

int main() {
    SHOW(SphereOnPlane, Ground, ground, P, c, one, 0.35);
    SHOW(SphereOnPlane, Moving, b, P, c, one, 0.35);
    SHOW(SphereOnSphere, Ground, ground, one, 0.35, c, two, 0.8);
    SHOW(SphereOnSphere, Moving, b, one, 0.35, c, two, 0.8);
    SHOW(LineOnLine, Ground, ground, P, 1, c, Q, 2);
    SHOW(LineOnLine, Moving, b, P, 1, c, Q, 2);
    SHOW(LineOnLine, Turned, c, Q, 2, b, P, 1);
    return 0;
}
