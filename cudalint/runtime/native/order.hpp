// What happens before what: the work of streams and of the host, in vector clocks.
//
// The simulated device does work when it is asked for; a real one does it later, and beside that of
// other streams. What it promises stands in
// - CUDA Runtime API, "Stream synchronization behavior": the legacy default stream waits for all
//   blocking streams, and these for it; those of cudaStreamNonBlocking do neither; the default stream
//   of a thread is a blocking one;
// - CUDA C++ Programming Guide, "Streams", "Explicit Synchronization", "Implicit Synchronization",
//   "Events": work of one stream runs in order; a wait for an event is one for what its stream was
//   given before it was recorded last;
// - CUDA Runtime API, "API synchronization behavior": which copies the host waits for.
// Allocation orders nothing.
//
// Where more is not known, more is taken to be in order than is: there is one host (its threads wait
// for each other unseen) and one device.
#pragma once

namespace ledger {

using Clock = std::vector<uint64_t>;  // By timeline: how much of it has happened.

inline uint64_t seen_of(const Clock& clock, uint32_t timeline) {
    return timeline < clock.size() ? clock[timeline] : 0;
}

inline void see(Clock& clock, uint32_t timeline, uint64_t number) {
    if (timeline >= clock.size()) clock.resize(timeline + 1);
    clock[timeline] = std::max(clock[timeline], number);
}

inline void join(Clock& clock, const Clock& other) {
    if (other.size() > clock.size()) clock.resize(other.size());
    for (size_t i = 0; i < other.size(); i++) clock[i] = std::max(clock[i], other[i]);
}

// A piece of work, by its number on its timeline; 0 is before everything.
struct Work {
    uint32_t timeline = 0;
    uint64_t number = 0;
    const char* api = "";
};

class Order {
public:
    static constexpr uint32_t legacy = 0;  // The timeline of the legacy default stream.

    Order() : lines_(1) { lines_[legacy].blocking = true; }

    // Of a stream. Where there are too many, it shares the legacy stream's, which is in more order.
    uint32_t add(bool blocking) {
        uint32_t made = reusable();
        if (!made) {
            if (lines_.size() >= most) return legacy;
            made = uint32_t(lines_.size());
            lines_.emplace_back();
        }
        lines_[made].blocking = blocking, lines_[made].ended = false;
        lines_[made].before.clear();
        return made;
    }

    // Its stream is destroyed; what it was given still runs.
    void end(uint32_t timeline) {
        if (timeline != legacy) lines_[timeline].ended = true;
    }

    uint32_t of_thread(uint32_t thread) {
        auto found = threads_.find(thread);
        if (found == threads_.end()) found = threads_.emplace(thread, add(true)).first;
        return found->second;
    }

    // The next piece of work of a timeline.
    const Work& work(uint32_t timeline, const char* api) {
        settle(timeline);
        return current_ = {timeline, ++lines_[timeline].number, api};
    }

    // What was asked for last.
    const Work& current() const { return current_; }

    // What an event stands for that is recorded now.
    const Clock& recorded(uint32_t timeline) {
        settle(timeline);
        see(lines_[timeline].before, timeline, lines_[timeline].number);
        return lines_[timeline].before;
    }

    void wait(uint32_t timeline, const Clock& event) {
        if (alone()) return;
        settle(timeline);
        join(lines_[timeline].before, event);
    }

    // For work that nobody here knows of.
    void wait_for_all(uint32_t timeline) {
        for (uint32_t i = 0; i < lines_.size(); i++) see(lines_[timeline].before, i, lines_[i].number);
    }

    void host_waits(const Clock& event) { join(host_, event); }
    void host_waits(uint32_t timeline) { join(host_, recorded(timeline)); }
    void host_waits_for_all() {
        for (uint32_t i = 0; i < lines_.size(); i++) see(host_, i, lines_[i].number);
    }

    // Whether it has happened before what a timeline was given last.
    bool before(const Work& work, uint32_t timeline) const {
        return work.timeline == timeline || before_host(work) ||
               work.number <= seen_of(lines_[timeline].before, work.timeline);
    }
    bool before_host(const Work& work) const {
        return work.number <= seen_of(host_, work.timeline);
    }

    // Whether nothing but the legacy default stream was ever given work.
    bool alone() const { return lines_.size() == 1; }

private:
    struct Line {
        uint64_t number = 0;
        Clock before;  // What its next piece of work comes after.
        bool blocking = false, ended = false;
    };
    static constexpr size_t most = 1024;

    // The barrier between the legacy default stream and the blocking ones.
    void settle(uint32_t timeline) {
        if (alone()) return;
        Line& line = lines_[timeline];
        if (timeline != legacy) {
            if (line.blocking) follow(line, legacy);
            return;
        }
        for (uint32_t i = 1; i < lines_.size(); i++)
            if (lines_[i].blocking) follow(line, i);
    }

    void follow(Line& line, uint32_t other) {
        join(line.before, lines_[other].before);
        see(line.before, other, lines_[other].number);
    }

    // A timeline whose stream is gone, and whose work the host has waited for.
    uint32_t reusable() const {
        for (uint32_t i = 1; i < lines_.size(); i++)
            if (lines_[i].ended && lines_[i].number <= seen_of(host_, i)) return i;
        return legacy;
    }

    std::vector<Line> lines_;
    Clock host_;
    Work current_;
    std::map<uint32_t, uint32_t> threads_;
};

}  // namespace ledger
