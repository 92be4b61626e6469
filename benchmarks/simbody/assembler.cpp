// What SimTK::Assembler takes for the problems of benchmarks/inverse_kinematics.
//
//     assembler version                            prints the version of Simbody
//     assembler PROBLEM ACCURACY TOLERANCE TURNS   solves the problem in that file, and prints a line
//                                                  for each frame
//
// A line is: seconds, goal, norm of the constraints' errors [m], root mean square of the markers'
// distances [m], 1 or 0 for whether it succeeded, and evaluations of the goal. The first frame is
// assembled from the start, the others are tracked. All frames are solved TURNS times over, and the
// seconds are the least that were seen.
//
// A problem is text, as inverse_kinematics/text.py writes it: words that say what comes next.
//
// Never compile it with -DNDEBUG where the library comes from Debian; see state.cpp.

#include "Simbody.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using namespace SimTK;

using Clock = std::chrono::steady_clock;

[[noreturn]] static void refuse(const std::string& what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    std::exit(1);
}

class Words {
public:
    explicit Words(const char* path) : stream(path) {
        if (!stream) refuse(std::string("cannot be opened: ") + path);
    }

    std::string word() {
        std::string found;
        if (!(stream >> found)) refuse("the problem ends too early");
        return found;
    }

    void expect(const char* name) {
        const std::string got = word();
        if (got != name) refuse(std::string("expected: ") + name + ", got: " + got);
    }

    int count() { return std::atoi(word().c_str()); }
    Real number() { return std::strtod(word().c_str(), nullptr); }  // nan as well

    Vec3 vector() {
        Vec3 found;
        for (int i = 0; i < 3; ++i) found[i] = number();
        return found;
    }

    Transform frame() {
        Mat33 axes;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) axes(i, j) = number();
        return Transform(Rotation(axes, true), vector());
    }

private:
    std::ifstream stream;
};

struct Frame {
    Real time = 0, value = 0;
    Array_<Vec3> observations;
};

struct Problem {
    MultibodySystem system;
    SimbodyMatterSubsystem matter{system};
    std::vector<MobilizedBody> bodies;
    std::vector<Real> start;
    std::vector<std::pair<int, Vec3>> stations;
    std::vector<Real> weights;
    int goalBody = -1, goalIndex = 0;
    std::vector<Frame> frames;
    State state;

    explicit Problem(Words& words) {
        words.expect("bodies");
        for (int n = words.count(); n > 0; --n) addBody(words);
        words.expect("constraints");
        for (int n = words.count(); n > 0; --n) addConstraint(words);
        words.expect("q_initial");
        for (int n = words.count(); n > 0; --n) start.push_back(words.number());
        words.expect("goal");
        goalBody = words.count();
        goalIndex = words.count();
        words.expect("markers");
        for (int n = words.count(); n > 0; --n) {
            const int body = words.count();
            stations.emplace_back(body, words.vector());
            weights.push_back(words.number());
        }
        words.expect("frames");
        for (int n = words.count(); n > 0; --n) {
            Frame frame;
            frame.time = words.number();
            frame.value = words.number();
            for (size_t i = 0; i < stations.size(); ++i)
                frame.observations.push_back(words.vector());
            frames.push_back(frame);
        }
        prepare();
    }

    MobilizedBody& body(int index) {
        return index < 0 ? static_cast<MobilizedBody&>(matter.updGround()) : bodies.at(index);
    }

private:
    void addBody(Words& words) {
        const std::string joint = words.word();
        MobilizedBody parent = body(words.count());
        const Transform in = words.frame(), out = words.frame();
        const Body::Rigid solid{MassProperties(1, Vec3(0), Inertia(1))};
        if (joint == "Pin") bodies.push_back(MobilizedBody::Pin(parent, in, solid, out));
        else if (joint == "Slider") bodies.push_back(MobilizedBody::Slider(parent, in, solid, out));
        else if (joint == "Universal")
            bodies.push_back(MobilizedBody::Universal(parent, in, solid, out));
        else if (joint == "Cylinder")
            bodies.push_back(MobilizedBody::Cylinder(parent, in, solid, out));
        else if (joint == "Planar") bodies.push_back(MobilizedBody::Planar(parent, in, solid, out));
        else if (joint == "Gimbal") bodies.push_back(MobilizedBody::Gimbal(parent, in, solid, out));
        else if (joint == "Translation")
            bodies.push_back(MobilizedBody::Translation(parent, in, solid, out));
        else if (joint == "Ball") bodies.push_back(MobilizedBody::Ball(parent, in, solid, out));
        else if (joint == "Free") bodies.push_back(MobilizedBody::Free(parent, in, solid, out));
        else if (joint == "Weld") bodies.push_back(MobilizedBody::Weld(parent, in, solid, out));
        else refuse("no such joint: " + joint);
    }

    void addConstraint(Words& words) {
        const std::string type = words.word();
        MobilizedBody& first = body(words.count());
        if (type == "Weld") {
            const Transform frame = words.frame();
            MobilizedBody& second = body(words.count());
            Constraint::Weld(first, frame, second, words.frame());
            return;
        }
        const Vec3 station = words.vector();
        MobilizedBody& second = body(words.count());
        const Vec3 other = words.vector();
        if (type == "Rod") Constraint::Rod(first, station, second, other, words.number());
        else if (type == "Ball") Constraint::Ball(first, station, second, other);
        else refuse("no such constraint: " + type);
    }

    void prepare() {
        state = system.realizeTopology();
        matter.setUseEulerAngles(state, true);
        system.realizeModel(state);
        size_t next = 0;
        for (const MobilizedBody& body : bodies)
            for (int i = 0; i < body.getNumQ(state); ++i)
                body.setOneQ(state, i, start.at(next++));
        if (next != start.size()) refuse("q_initial has more q than the bodies");
    }
};

struct Outcome {
    Real seconds = Infinity, goal = 0, error = 0, rms = 0;
    bool succeeded = false;
    int evaluations = 0;
};

// Simbody itself says 0 of a marker that was not seen.
static Real rms(const Markers& markers, const Frame& frame) {
    Real sum = 0;
    int count = 0;
    for (Markers::MarkerIx i(0); i < markers.getNumMarkers(); ++i)
        if (frame.observations[i].isFinite())
            sum += markers.findCurrentMarkerErrorSquared(i), ++count;
    return count ? std::sqrt(sum / count) : 0;
}

static void solve(Problem& problem, Real accuracy, Real tolerance, std::vector<Outcome>& outcomes) {
    Assembler assembler(problem.system);
    assembler.setAccuracy(accuracy);
    assembler.setErrorTolerance(tolerance);
    Markers* markers = nullptr;
    if (!problem.stations.empty()) {
        markers = new Markers();
        for (size_t i = 0; i < problem.stations.size(); ++i)
            markers->addMarker(problem.body(problem.stations[i].first), problem.stations[i].second,
                               problem.weights[i]);
        assembler.adoptAssemblyGoal(markers);
        Array_<Markers::MarkerIx> order;
        for (Markers::MarkerIx i(0); i < markers->getNumMarkers(); ++i) order.push_back(i);
        markers->defineObservationOrder(order);
    }
    QValue* value = nullptr;
    if (problem.goalBody >= 0) {
        value = new QValue(problem.body(problem.goalBody), MobilizerQIndex(problem.goalIndex), 0);
        assembler.adoptAssemblyGoal(value);
    }
    assembler.initialize(problem.state);
    for (size_t i = 0; i < problem.frames.size(); ++i) {
        const Frame& frame = problem.frames[i];
        Outcome outcome;
        const int before = assembler.getNumGoalEvals();
        const auto start = Clock::now();
        try {
            if (markers) markers->moveAllObservations(frame.observations);
            if (value) value->setValue(frame.value);
            outcome.goal = i ? assembler.track(frame.time) : assembler.assemble();
            outcome.succeeded = true;
        } catch (const std::exception&) {
            outcome.goal = assembler.calcCurrentGoal();
        }
        outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        outcome.evaluations = assembler.getNumGoalEvals() - before;
        outcome.error = assembler.calcCurrentErrorNorm();
        if (markers) outcome.rms = rms(*markers, frame);
        outcome.seconds = std::min(outcome.seconds, outcomes[i].seconds);
        outcomes[i] = outcome;
    }
}

int main(int count, char** arguments) {
    if (count == 2 && std::string(arguments[1]) == "version") {
        int major, minor, build;
        SimTK_version_simbody(&major, &minor, &build);
        std::printf("%d.%d\n", major, minor);
        return 0;
    }
    if (count != 5) refuse("expected: version, or PROBLEM ACCURACY TOLERANCE TURNS");
    try {
        Words words(arguments[1]);
        Problem problem(words);
        std::vector<Outcome> outcomes(problem.frames.size());
        for (int turn = std::atoi(arguments[4]); turn > 0; --turn)
            solve(problem, std::atof(arguments[2]), std::atof(arguments[3]), outcomes);
        for (const Outcome& found : outcomes)
            std::printf("%.9g %.17g %.9g %.9g %d %d\n", found.seconds, found.goal, found.error,
                        found.rms, found.succeeded, found.evaluations);
    } catch (const std::exception& error) {
        refuse(error.what());
    }
    return 0;
}
