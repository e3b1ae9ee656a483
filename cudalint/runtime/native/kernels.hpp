// The kernels of the program: what their PTX says that they take and use.
#pragma once

namespace ledger {

struct Parameter {
    uint32_t size = 0, alignment = 1;
};

struct KernelFacts {
    std::vector<Parameter> parameters;
    uint64_t shared = 0;        // Static, in bytes.
    bool dynamic_shared = false;  // Reads `extern __shared__`.
    uint32_t most_threads = 0;    // By its launch bounds; 0 is not said.
};

struct Kernel {
    std::string name;
    const void* host = nullptr;
    bool known = false;
    KernelFacts facts;
    int64_t opted_in = -1;  // cudaFuncAttributeMaxDynamicSharedMemorySize
    void* handle = nullptr;  // Of the real runtime.
};

// Reads PTX modules that make up one program for the device. They were written by a compiler: one
// declaration per line. What is defined again, for another architecture or in another file, is the
// same, and the last counts; names that are a file's own were made unique by the compiler.
class PtxReader {
public:
    void read(const std::string& text) {
        depth_ = 0, heading_ = false, current_.clear();
        size_t at = 0;
        while (at < text.size()) {
            size_t end = text.find('\n', at);
            if (end == std::string::npos) end = text.size();
            line(text.substr(at, end - at));
            at = end + 1;
        }
    }

    std::map<std::string, KernelFacts> kernels() const {
        std::map<std::string, KernelFacts> found;
        for (auto& part : bodies_)
            if (part.second.entry) found[part.first] = with_reached(part.first);
        return found;
    }

private:
    struct Body {
        bool entry = false;
        KernelFacts facts;
        std::set<std::string> uses;
    };

    void line(const std::string& text) {
        size_t entry = text.find(".entry "), function = text.find(".func ");
        if (depth_ == 0 && (entry != std::string::npos || function != std::string::npos)) {
            bool is_entry = entry != std::string::npos;
            std::string rest = text.substr(is_entry ? entry + 7 : function + 6);
            // ".func (.param .b32 r) name(": the result comes first.
            size_t open = rest.find_first_not_of(" \t");
            if (!is_entry && open != std::string::npos && rest[open] == '(') {
                size_t close = rest.find(')');
                rest = close == std::string::npos ? "" : rest.substr(close + 1);
            }
            current_ = identifier(rest, 0);
            body_ = Body();
            body_.entry = is_entry;
            heading_ = true;
        }
        if (heading_) {
            size_t parameter = text.find(".param ");
            if (body_.entry && parameter != std::string::npos)
                body_.facts.parameters.push_back(read_parameter(text.substr(parameter + 7)));
            for (const char* bound : {".maxntid", ".reqntid"}) {
                size_t found = text.find(bound);
                if (found == std::string::npos) continue;
                uint32_t x = 1, y = 1, z = 1;
                sscanf(text.c_str() + found + 8, " %u, %u, %u", &x, &y, &z);
                body_.facts.most_threads = x * y * z;
            }
        }
        if (text.find(".shared ") != std::string::npos && text.find(".align") != std::string::npos) {
            shared(text);
        } else if (depth_ > 0) {
            words(text);
        }
        for (char c : text) {
            if (c == '{') depth_++, heading_ = false;
            if (c == '}' && depth_ > 0 && --depth_ == 0 && !current_.empty()) {
                bodies_[current_] = std::move(body_);
                current_.clear();
            }
        }
        if (heading_ && text.find(';') != std::string::npos && depth_ == 0) {
            heading_ = false;  // A declaration without a body.
            current_.clear();
        }
    }

    static std::string identifier(const std::string& text, size_t at) {
        while (at < text.size() && !word(text[at])) at++;
        size_t end = at;
        while (end < text.size() && word(text[end])) end++;
        return text.substr(at, end - at);
    }

    static bool word(char c) {
        return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
    }

    static uint32_t width(const std::string& text) {
        for (const char* type : {".b8", ".u8", ".s8", ".b16", ".u16", ".s16", ".f16", ".b32", ".u32",
                                 ".s32", ".f32", ".b64", ".u64", ".s64", ".f64", ".b128"}) {
            size_t found = text.find(type);
            if (found == std::string::npos) continue;
            size_t length = strlen(type);
            if (found + length < text.size() && word(text[found + length])) continue;
            return uint32_t(atoi(type + 2)) / 8;
        }
        return 4;
    }

    static uint64_t count(const std::string& text) {
        size_t open = text.find('[');
        return open == std::string::npos ? 1 : strtoull(text.c_str() + open + 1, nullptr, 10);
    }

    static Parameter read_parameter(const std::string& text) {
        Parameter p;
        uint32_t element = width(text);
        p.size = uint32_t(element * count(text));
        p.alignment = element;
        size_t align = text.find(".align ");
        if (align != std::string::npos) p.alignment = uint32_t(atoi(text.c_str() + align + 7));
        return p;
    }

    void shared(const std::string& text) {
        size_t end = text.find_first_of("[;", text.find(".align"));
        if (end == std::string::npos) return;
        size_t start = end;
        while (start > 0 && word(text[start - 1])) start--;
        std::string name = text.substr(start, end - start);
        bool dynamic = text.find(".extern") != std::string::npos || text.find("[]") != std::string::npos;
        uint64_t bytes = width(text) * count(text);
        if (dynamic)
            dynamic_.insert(name);
        else if (depth_ > 0)
            body_.facts.shared += bytes;
        else
            shared_[name] = bytes;
    }

    void words(const std::string& text) {
        size_t at = 0;
        while (at < text.size()) {
            if (!word(text[at])) {
                at++;
                continue;
            }
            size_t end = at;
            while (end < text.size() && word(text[end])) end++;
            char c = text[at];
            if (c != '%' && !isdigit((unsigned char)c) && end - at > 1)
                body_.uses.insert(text.substr(at, end - at));
            at = end;
        }
    }

    // Adds what a kernel reaches through variables and functions, each once. A kernel that it
    // launches has shared memory of its own.
    KernelFacts with_reached(const std::string& kernel) const {
        KernelFacts facts = bodies_.at(kernel).facts;
        std::set<std::string> reached{kernel};
        std::vector<const Body*> open{&bodies_.at(kernel)};
        while (!open.empty()) {
            const Body* body = open.back();
            open.pop_back();
            for (const std::string& used : body->uses) {
                if (!reached.insert(used).second) continue;
                auto variable = shared_.find(used);
                if (variable != shared_.end()) facts.shared += variable->second;
                if (dynamic_.count(used)) facts.dynamic_shared = true;
                auto function = bodies_.find(used);
                if (function == bodies_.end() || function->second.entry) continue;
                facts.shared += function->second.facts.shared;
                open.push_back(&function->second);
            }
        }
        return facts;
    }

    std::map<std::string, Body> bodies_;
    std::map<std::string, uint64_t> shared_;
    std::set<std::string> dynamic_;
    std::string current_;
    Body body_;
    int depth_ = 0;
    bool heading_ = false;
};

struct Variable {
    const void* host;
    std::string name;
    size_t size;
    bool constant;
    void** managed;  // Where the host's pointer to a __managed__ variable is.
    Address address = 0;
};

struct Program {
    std::map<std::string, KernelFacts> facts;
    std::map<const void*, std::unique_ptr<Kernel>> kernels;  // By host function.
    std::map<const void*, Variable> variables;
    std::map<void*, Kernel*> handles;  // Of the real runtime.
    std::set<void*> binaries;          // What it gave for each binary that was registered.

    // The wrapper that nvcc embeds. Where device code is linked (`-rdc=true`), it holds the machine
    // code of all files, and leads to what each was before.
    void add_binary(const void* wrapper) {
        struct Wrapper { uint32_t magic, version; const char* data; const char* const* linked; };
        const Wrapper* w = (const Wrapper*)wrapper;
        if (!w || w->magic != 0x466243b1 || !w->data) return;
        PtxReader reader;
        read_entries(w->data, reader);
        if (w->version == 2 && w->linked)
            for (auto part = w->linked; *part; part++) read_entries(*part, reader);
        for (auto& part : reader.kernels()) facts[part.first] = part.second;
    }

    // A header, then entries of PTX or machine code.
    static void read_entries(const char* at, PtxReader& reader) {
        uint32_t magic;
        uint16_t header;
        uint64_t size;
        memcpy(&magic, at, 4), memcpy(&header, at + 6, 2), memcpy(&size, at + 8, 8);
        if (magic != 0xBA55ED50) return;
        at += header;
        const char* end = at + size;
        while (at + 64 <= end) {
            uint16_t kind;
            uint32_t head;
            uint64_t length, flags;
            memcpy(&kind, at, 2), memcpy(&head, at + 4, 4), memcpy(&length, at + 8, 8);
            memcpy(&flags, at + 40, 8);
            if (head < 32 || length > uint64_t(end - at) - head) break;
            bool compressed = flags & (0x2000 | 0x8000);
            if (kind == 1 && !compressed)
                reader.read(std::string(at + head, strnlen(at + head, length)));
            at += head + length;
        }
    }

    Kernel& add_kernel(const void* host, const char* name) {
        auto& kernel = kernels[host];
        if (!kernel) kernel.reset(new Kernel);
        kernel->name = name ? name : "";
        kernel->host = host;
        auto found = facts.find(kernel->name);
        kernel->known = found != facts.end();
        if (kernel->known) kernel->facts = found->second;
        return *kernel;
    }

    Kernel* find(const void* function) {
        auto found = kernels.find(function);
        if (found != kernels.end()) return found->second.get();
        auto handle = handles.find((void*)function);
        if (handle != handles.end()) return handle->second;
        for (auto& part : kernels)
            if (part.second.get() == function) return part.second.get();
        return nullptr;
    }
};

}  // namespace ledger
