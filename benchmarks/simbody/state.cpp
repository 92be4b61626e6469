// What SimTK::State takes for what benchmarks/rows/state.py measures of stagecache.State.
//
//     state version                 prints the version of Simbody
//     state WORKLOAD SIZE SECONDS   prints the seconds that one operation takes: the median of
//                                   3 to 100 calls, as many as fit into so many seconds
//
// A workload is prepared and timed as its namesake in benchmarks/states.py: the two read alike. It
// ends with an error if not exactly what should be valid is valid.
//
// Never compile it with -DNDEBUG where the library comes from Debian, which is built without: the
// sizes of classes differ.

#include "SimTKcommon.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace SimTK;

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Keep the compiler from leaving out what computes this, or from doing it once for all turns.
template <class T>
static void used(const T& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

static void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "expected: %s\n", what);
        std::exit(1);
    }
}

// A State of one subsystem, and its entries in the order in which they are marked.
struct Subject {
    State state;
    SubsystemIndex subsystem{0};
    DiscreteVariableIndex discrete;
    CacheEntryIndex beside;
    std::vector<CacheEntryIndex> others, dependents;

    Subject() {
        state.setNumSubsystems(1);
        const Vector three(3, Real(1));
        state.allocateQ(subsystem, three);
        state.allocateU(subsystem, three);
        state.allocateZ(subsystem, three);
        discrete =
            state.allocateDiscreteVariable(subsystem, Stage::Position, new Value<Real>(1));
        beside = below(false, false, true);
    }

    CacheEntryIndex below(bool q, bool u, bool z) {
        return state.allocateCacheEntryWithPrerequisites(
            subsystem, Stage::Topology, Stage::Infinity, q, u, z, noVariables, noEntries,
            new Value<Real>(0));
    }

    CacheEntryIndex lazy(Stage stage) {
        return state.allocateLazyCacheEntry(subsystem, stage, new Value<Real>(0));
    }

    // Entries below q or u, of which the first so many are below q.
    void fillBelow(int size, int belowQ) {
        for (int i = 0; i < size; ++i)
            (i < belowQ ? dependents : others).push_back(below(i < belowQ, i >= belowQ, false));
    }

    // Lazy entries at Position or Time, of which the first so many are at Position.
    void fillLazy(int size, int atPosition) {
        for (int i = 0; i < size; ++i)
            (i < atPosition ? dependents : others)
                .push_back(lazy(i < atPosition ? Stage::Position : Stage::Time));
    }

    void realize(int upTo = Stage::Report) {
        for (int stage = state.getSystemStage() + 1; stage <= upTo; ++stage) {
            if (state.getSubsystemStage(subsystem) < stage)
                state.advanceSubsystemToStage(subsystem, Stage(stage));
            state.advanceSystemToStage(Stage(stage));
        }
    }

    void mark(CacheEntryIndex entry) { state.markCacheValueRealized(subsystem, entry); }

    void markAll() {
        realize();
        for (CacheEntryIndex entry : others) mark(entry);
        for (CacheEntryIndex entry : dependents) mark(entry);
    }

    void writeBeside() {
        for (int i = 0; i < 20; ++i) {
            state.updZ();
            realize();
            mark(beside);
        }
    }

    bool are(const std::vector<CacheEntryIndex>& entries, bool valid) const {
        return std::all_of(entries.begin(), entries.end(), [&](CacheEntryIndex entry) {
            return state.isCacheValueRealized(subsystem, entry) == valid;
        });
    }

private:
    const Array_<DiscreteVarKey> noVariables;
    const Array_<CacheEntryKey> noEntries;
};

using Step = std::function<void()>;

static double median(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    const size_t n = samples.size();
    return (samples[(n - 1) / 2] + samples[n / 2]) / 2;
}

// The median of some calls, each timed on its own, less that of a call that does nothing.
static double timed(int calls, const Step& prepare, const Step& call) {
    const Step nothing = [] {};
    std::vector<double> samples, empty;
    for (int i = 0; i < calls; ++i) {
        prepare();
        double least = 0;
        for (int k = 0; k < 3; ++k) {  // as in probes.py
            const auto start = Clock::now();
            nothing();
            least = since(start);
        }
        empty.push_back(least);
        const auto start = Clock::now();
        call();
        samples.push_back(since(start));
    }
    return median(samples) - median(empty);
}

static double prepared(double budget, const Step& prepare, const Step& call) {
    const auto start = Clock::now();
    timed(3, prepare, call);
    const double each = since(start) / 3;
    return timed(std::max(3, std::min(100, int(budget / each))), prepare, call);
}

// The same of a call that needs no preparation, in turns of a thousand: a template, so that it is
// inlined where Simbody's headers let it be.
template <class Call>
static double repeated(double budget, const Call& call) {
    const int turns = 1000;
    return prepared(budget, [] {}, [&] {
        for (int i = 0; i < turns; ++i) call();
    }) / turns;
}

static double write(int size, double budget, int dependents, bool cold) {
    Subject subject;
    subject.fillBelow(size, dependents);
    subject.fillLazy(size, dependents);
    const auto prepare = [&] {
        subject.markAll();
        if (!cold) subject.writeBeside();
    };
    prepare();
    require(subject.are(subject.others, true) && subject.are(subject.dependents, true),
            "all entries valid before the write");
    subject.state.updQ();
    require(subject.are(subject.others, true) && subject.are(subject.dependents, false),
            "the dependents, and nothing else, invalid after the write");
    return prepared(budget, prepare, [&] { used(subject.state.updQ()); });
}

static double copy(int size, double budget) {
    Subject subject;
    subject.fillBelow(size, size);
    std::unique_ptr<State> twin;
    return prepared(
        budget,
        [&] {
            twin.reset();
            subject.markAll();
        },
        [&] { twin.reset(new State(subject.state)); });
}

static double allocate(int size, double budget) {
    std::unique_ptr<Subject> subject;
    return prepared(
        budget, [&] { subject.reset(new Subject); },
        [&] {
            for (int i = 0; i < size; ++i) subject->below(true, false, false);
        }) / size;
}

static double advance(double budget) {
    const int subsystems = 100;
    State state;
    state.setNumSubsystems(subsystems);
    const auto advanceAll = [&](Stage stage) {
        for (SubsystemIndex x(0); x < subsystems; ++x) state.advanceSubsystemToStage(x, stage);
    };
    for (SubsystemIndex x(0); x < subsystems; ++x)
        state.allocateLazyCacheEntry(x, Stage::Position, new Value<Real>(0));
    for (int stage = Stage::Topology; stage <= Stage::Position; ++stage) {
        advanceAll(Stage(stage));
        state.advanceSystemToStage(Stage(stage));
    }
    const auto goBack = [&] { state.invalidateAll(Stage::Position); };
    const auto call = [&] { advanceAll(Stage::Position); };
    goBack();
    const Stage before = state.getSubsystemStage(SubsystemIndex(subsystems - 1));
    call();
    const Stage after = state.getSubsystemStage(SubsystemIndex(subsystems - 1));
    require(before == Stage::Time && after == Stage::Position, "Time, and then Position");
    return prepared(budget, goBack, call) / subsystems;
}

static double operation(const std::string& workload, double budget) {
    Subject subject;
    const CacheEntryIndex entry = subject.below(true, false, false);
    State& state = subject.state;
    const SubsystemIndex subsystem = subject.subsystem;
    subject.realize(workload == "write_q" || workload == "write_discrete" ? Stage::Time
                                                                           : Stage::Report);
    subject.mark(entry);
    if (workload == "read")
        return repeated(budget, [&] {
            used(Value<Real>::downcast(state.getCacheEntry(subsystem, entry)).get());
        });
    if (workload == "read_q") return repeated(budget, [&] { used(state.getQ()); });
    if (workload == "write_q") return repeated(budget, [&] { used(state.updQ()); });
    if (workload == "mark") return repeated(budget, [&] { subject.mark(entry); });
    if (workload == "write_discrete")
        return repeated(budget, [&] {
            Value<Real>::updDowncast(state.updDiscreteVariable(subsystem, subject.discrete)) = 1;
        });
    require(false, "the name of a workload");
    return 0;
}

static double measure(const std::string& workload, int size, double budget) {
    if (workload == "write_few") return write(size, budget, std::min(size, 10), false);
    if (workload == "write_many") return write(size, budget, size, false);
    if (workload == "write_many_cold") return write(size, budget, size, true);
    if (workload == "copy") return copy(size, budget);
    if (workload == "allocate") return allocate(size, budget);
    if (workload == "advance") return advance(budget);
    return operation(workload, budget);
}

int main(int count, char** arguments) {
    if (count == 2 && std::string(arguments[1]) == "version") {
        int major, minor, build;
        SimTK_version_SimTKcommon(&major, &minor, &build);
        std::printf("%d.%d\n", major, minor);
        return 0;
    }
    require(count == 4, "version, or WORKLOAD SIZE SECONDS");
    const double seconds = measure(arguments[1], std::atoi(arguments[2]), std::atof(arguments[3]));
    std::printf("%.12g\n", seconds);
    return 0;
}
