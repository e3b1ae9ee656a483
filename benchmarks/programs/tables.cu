// Look-up tables by name: a map of structs, scope guards, a registry that releases what it holds.
#include <cuda_runtime.h>

#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

template <typename F>
class ScopeGuard {
  public:
    explicit ScopeGuard(F f) : f_(std::move(f)) {}
    ScopeGuard(const ScopeGuard&) = delete;
    ScopeGuard& operator=(const ScopeGuard&) = delete;
    ~ScopeGuard() {
        if (armed_) f_();
    }
    void dismiss() { armed_ = false; }

  private:
    F f_;
    bool armed_ = true;
};

struct Table {
    float* keys = nullptr;
    float* values = nullptr;
    int* order = nullptr;
    int count = 0;
};

__global__ void search(const float* keys, const float* values, const int* order, int count, const float* queries,
                       float* answers, int asked) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= asked) return;
    int low = 0, high = count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (keys[order[middle]] < queries[i]) low = middle + 1;
        else high = middle;
    }
    answers[i] = values[order[low]];
}

static void release(Table& table) {
    if (table.keys) cudaFree(table.keys);
    if (table.values) cudaFree(table.values);
    if (table.order) cudaFree(table.order);
    table = Table{};
}

static bool upload(float** out, const std::vector<float>& host) {
    float* p = nullptr;
    if (cudaMalloc(&p, host.size() * sizeof(float)) != cudaSuccess) return false;
    if (cudaMemcpy(p, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess) {
        cudaFree(p);
        return false;
    }
    *out = p;
    return true;
}

static std::optional<Table> make(const std::vector<float>& keys, const std::vector<float>& values) {
    Table table;
    table.count = static_cast<int>(keys.size());
    std::vector<int> order(keys.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    if (!upload(&table.keys, keys)) return std::nullopt;
    if (!upload(&table.values, values)) {
        release(table);
        return std::nullopt;
    }
    if (cudaMalloc(&table.order, order.size() * sizeof(int)) != cudaSuccess) {
        release(table);
        return std::nullopt;
    }
    if (cudaMemcpy(table.order, order.data(), order.size() * sizeof(int), cudaMemcpyHostToDevice) != cudaSuccess) {
        release(table);
        return std::nullopt;
    }
    return table;
}

class Registry {
  public:
    Registry() = default;
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;
    ~Registry() {
        for (auto& entry : tables_) release(entry.second);
    }

    bool add(const std::string& name, const std::vector<float>& keys, const std::vector<float>& values) {
        std::optional<Table> table = make(keys, values);
        if (!table) return false;
        auto found = tables_.find(name);
        if (found != tables_.end()) {
            release(found->second);
            found->second = *table;
        } else {
            tables_[name] = *table;
        }
        return true;
    }
    void remove(const std::string& name) {
        auto found = tables_.find(name);
        if (found == tables_.end()) return;
        release(found->second);
        tables_.erase(found);
    }
    const Table* find(const std::string& name) const {
        auto found = tables_.find(name);
        return found == tables_.end() ? nullptr : &found->second;
    }

  private:
    std::map<std::string, Table> tables_;
};

static bool ask(const Table& table, const std::vector<float>& queries, std::vector<float>& answers) {
    float* asked = nullptr;
    float* given = nullptr;
    if (cudaMalloc(&asked, queries.size() * sizeof(float)) != cudaSuccess) return false;
    ScopeGuard drop_asked([&] { cudaFree(asked); });
    if (cudaMalloc(&given, queries.size() * sizeof(float)) != cudaSuccess) return false;
    ScopeGuard drop_given([&] { cudaFree(given); });
    if (cudaMemcpy(asked, queries.data(), queries.size() * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess) {
        return false;
    }
    int count = static_cast<int>(queries.size());
    search<<<(count + 63) / 64, 64>>>(table.keys, table.values, table.order, table.count, asked, given, count);
    if (cudaGetLastError() != cudaSuccess) return false;
    answers.resize(queries.size());
    return cudaMemcpy(answers.data(), given, answers.size() * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess;
}

static bool timed(const char* what, const std::function<bool()>& work) {
    cudaEvent_t begun = nullptr, ended = nullptr;
    if (cudaEventCreate(&begun) != cudaSuccess) return false;
    ScopeGuard drop_begun([&] { cudaEventDestroy(begun); });
    if (cudaEventCreate(&ended) != cudaSuccess) return false;
    ScopeGuard drop_ended([&] { cudaEventDestroy(ended); });
    if (cudaEventRecord(begun) != cudaSuccess) return false;
    bool done = work();
    if (cudaEventRecord(ended) != cudaSuccess || cudaEventSynchronize(ended) != cudaSuccess) return false;
    float milliseconds = 0;
    if (cudaEventElapsedTime(&milliseconds, begun, ended) != cudaSuccess) return false;
    std::printf("%s: %.3f ms\n", what, milliseconds);
    return done;
}

int main() {
    Registry registry;
    std::vector<float> keys, values, answers;
    for (int i = 0; i < 256; ++i) {
        keys.push_back(i * 0.5f);
        values.push_back(i * i * 0.25f);
    }
    if (!registry.add("squares", keys, values) || !registry.add("again", keys, keys)) return 1;
    if (!registry.add("again", values, keys)) return 1;
    registry.remove("again");
    const Table* squares = registry.find("squares");
    if (squares == nullptr) return 1;
    bool done = timed("squares", [&] { return ask(*squares, {1.0f, 2.5f, 40.0f}, answers); });
    if (!done) return 1;
    for (float answer : answers) std::printf("%f\n", answer);
    return 0;
}
