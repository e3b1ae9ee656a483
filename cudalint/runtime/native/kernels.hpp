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

// Reads the text of one PTX module. It was written by a compiler: one declaration per line.
class PtxReader {
public:
    explicit PtxReader(const std::string& text) : text_(text) {}

    std::map<std::string, KernelFacts> read() {
        size_t at = 0;
        while (at < text_.size()) {
            size_t end = text_.find('\n', at);
            if (end == std::string::npos) end = text_.size();
            line(at, text_.substr(at, end - at), end);
            at = end + 1;
        }
        for (auto& part : bodies_) settle(part.first, part.second, 0);
        std::map<std::string, KernelFacts> found;
        for (auto& part : bodies_)
            if (part.second.entry) found[part.first] = part.second.facts;
        return found;
    }

private:
    struct Body {
        bool entry = false, settled = false;
        KernelFacts facts;
        std::set<std::string> uses;
    };

    void line(size_t, const std::string& text, size_t) {
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
            bodies_[current_].entry = is_entry;
            heading_ = true;
        }
        Body* body = current_.empty() ? nullptr : &bodies_[current_];
        if (heading_ && body) {
            size_t parameter = text.find(".param ");
            if (body->entry && parameter != std::string::npos)
                body->facts.parameters.push_back(read_parameter(text.substr(parameter + 7)));
            for (const char* bound : {".maxntid", ".reqntid"}) {
                size_t found = text.find(bound);
                if (found == std::string::npos) continue;
                uint32_t x = 1, y = 1, z = 1;
                sscanf(text.c_str() + found + 8, " %u, %u, %u", &x, &y, &z);
                body->facts.most_threads = x * y * z;
            }
        }
        if (text.find(".shared ") != std::string::npos && text.find(".align") != std::string::npos) {
            shared(text, depth_ > 0 ? body : nullptr);
        } else if (depth_ > 0 && body) {
            words(text, *body);
        }
        for (char c : text) {
            if (c == '{') depth_++, heading_ = false;
            if (c == '}' && depth_ > 0 && --depth_ == 0) current_.clear();
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

    void shared(const std::string& text, Body* body) {
        size_t type = text.find(".b", text.find(".align"));
        std::string name = type == std::string::npos ? "" : identifier(text, text.find(' ', type));
        bool dynamic = text.find(".extern") != std::string::npos || text.find("[]") != std::string::npos;
        uint64_t bytes = width(text) * count(text);
        if (dynamic)
            dynamic_.insert(name);
        else if (body)
            body->facts.shared += bytes;
        else
            shared_[name] = bytes;
    }

    void words(const std::string& text, Body& body) {
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
                body.uses.insert(text.substr(at, end - at));
            at = end;
        }
    }

    // Adds what it reaches through the module's variables and functions.
    void settle(const std::string& name, Body& body, int depth) {
        if (body.settled || depth > 32) return;
        body.settled = true;
        for (const std::string& used : body.uses) {
            auto variable = shared_.find(used);
            if (variable != shared_.end()) body.facts.shared += variable->second;
            if (dynamic_.count(used)) body.facts.dynamic_shared = true;
            auto function = bodies_.find(used);
            if (function != bodies_.end() && used != name) {
                settle(used, function->second, depth + 1);
                body.facts.shared += function->second.facts.shared;
                body.facts.dynamic_shared |= function->second.facts.dynamic_shared;
            }
        }
    }

    const std::string& text_;
    std::map<std::string, Body> bodies_;
    std::map<std::string, uint64_t> shared_;
    std::set<std::string> dynamic_;
    std::string current_;
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

    // The wrapper that nvcc embeds: a header, then entries of PTX or machine code.
    void add_binary(const void* wrapper) {
        struct Wrapper { uint32_t magic, version; const char* data; };
        const Wrapper* w = (const Wrapper*)wrapper;
        if (!w || w->magic != 0x466243b1 || !w->data) return;
        const char* at = w->data;
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
            if (kind == 1 && !compressed) {
                std::string text(at + head, strnlen(at + head, length));
                for (auto& part : PtxReader(text).read()) facts[part.first] = part.second;
            }
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
