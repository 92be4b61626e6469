// Prints what Simbody computes for a body on one mobilizer: name, [R p], velocity, and acceleration
// where udot is 0. Orientations are Euler angles; q = 0.3, 0.5, ..., u = 0.5, 0.2, ...
// Simbody 3.7 has no CantileverFreeBeam: it is made of functions here, of a length of 0.5.
#include "Simbody.h"

#include <cstdio>

using namespace SimTK;
using Direction = MobilizedBody::Direction;
using Direction = MobilizedBody::Direction;

template <class Make>
static void show(const char* name, Make make) {
    for (Direction direction : {MobilizedBody::Forward, MobilizedBody::Reverse}) {
        MultibodySystem system;
        SimbodyMatterSubsystem matter(system);
        Body::Rigid solid(MassProperties(1, Vec3(0), Inertia(1, 1, 1)));
        Transform F(Rotation(0.3, ZAxis), Vec3(0.1, 0.2, 0.3));
        Transform M(Rotation(0.2, XAxis), Vec3(-0.1, 0.4, 0.2));
        MobilizedBody body = make(matter.Ground(), F, solid, M, direction);
        system.realizeTopology();
        State state = system.getDefaultState();
        matter.setUseEulerAngles(state, true);
        system.realizeModel(state);
        for (int i = 0; i < state.getNQ(); ++i) state.updQ()[i] = 0.3 + 0.2 * i;
        for (int i = 0; i < state.getNU(); ++i) state.updU()[i] = 0.5 - 0.3 * i;
        system.realize(state, Stage::Acceleration);
        Vector_<SpatialVec> accelerations;
        matter.calcBodyAccelerationFromUDot(state, Vector(state.getNU(), Real(0)), accelerations);
        const Transform X = body.getBodyTransform(state);
        std::printf("%s%s", name, direction == MobilizedBody::Reverse ? ":reverse" : "");
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) std::printf(" %.17g", X.R()[i][j]);
            std::printf(" %.17g", X.p()[i]);
        }
        for (const SpatialVec& motion :
             {body.getBodyVelocity(state), accelerations[body.getMobilizedBodyIndex()]})
            for (int k = 0; k < 2; ++k)
                for (int i = 0; i < 3; ++i) std::printf(" %.17g", motion[k][i]);
        std::printf("\n");
    }
}

// slope * x[first] + constant - bend * (x[0]^2 + x[1]^2)
class Bent : public Function {
public:
    Bent(int first, Real slope, Real constant, Real bend)
        : first(first), slope(slope), constant(constant), bend(bend) {}
    Real calcValue(const Vector& x) const override {
        return slope * x[first] + constant - bend * (x[0] * x[0] + x[1] * x[1]);
    }
    Real calcDerivative(const Array_<int>& by, const Vector& x) const override {
        if (by.size() == 1) return slope * (by[0] == first) - 2 * bend * (by[0] < 2 ? x[by[0]] : 0);
        return by.size() == 2 && by[0] == by[1] && by[0] < 2 ? -2 * bend : 0;
    }
    int getArgumentSize() const override { return 3; }
    int getMaxDerivativeOrder() const override { return 3; }

private:
    int first;
    Real slope, constant, bend;
};

static MobilizedBody beam(MobilizedBody& ground, const Transform& F, Body::Rigid& solid,
                          const Transform& M, Direction direction) {
    const Real length = 0.5;
    Array_<const Function*> functions;
    for (int i = 0; i < 3; ++i) functions.push_back(new Bent(i, 1, 0, 0));
    functions.push_back(new Bent(1, 2 * length / 3, 0, 0));
    functions.push_back(new Bent(0, -2 * length / 3, 0, 0));
    functions.push_back(new Bent(0, 0, length, 4 * length / 15));
    Array_<Array_<int> > which(6, Array_<int>());
    for (Array_<int>& of : which)
        for (int i = 0; i < 3; ++i) of.push_back(i);
    return MobilizedBody::FunctionBased(ground, F, solid, M, 3, functions, which, direction);
}

#define SHOW(KIND, ...)                                                                          \
    show(#KIND, [](MobilizedBody& ground, const Transform& F, Body::Rigid& solid,                \
                   const Transform& M, Direction direction) -> MobilizedBody {                   \
        return MobilizedBody::KIND(ground, F, solid, M, ##__VA_ARGS__, direction);               \
    })

int main() {
    SHOW(Screw, 0.25);
    SHOW(BendStretch);
    SHOW(Bushing);
    SHOW(Ellipsoid, Vec3(0.3, 0.4, 0.5));
    SHOW(Pin);
    SHOW(Slider);
    SHOW(Universal);
    SHOW(Cylinder);
    SHOW(Planar);
    SHOW(Gimbal);
    SHOW(Translation);
    SHOW(Ball);
    SHOW(Free);
    SHOW(LineOrientation);
    SHOW(FreeLine);
    show("CantileverFreeBeam", beam);
    return 0;
}
