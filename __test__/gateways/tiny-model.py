"""Writes a model of one megabyte for llama.cpp's server.

Its weights are made so that each token has one successor: whatever it is asked, it says SPOKEN and ends. So a test
can tell a summary from a cut one, and knows the text.
"""

import sys

import gguf
import numpy

# Each word once, for a token has one successor only.
SPOKEN = (
    "The scanner is ported and its tests pass . Next comes the benchmark : measure each stage , "
    "compare with before then write down what was found"
).split()
CONTEXT = 32768
HEADS = 4
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
UNKNOWN, BEGIN, END, FIRST_BYTE = 0, 1, 2, 3
FIRST_WORD = FIRST_BYTE + 256


def vocabulary():
    kinds = gguf.TokenType
    tokens = [(b"<unk>", kinds.UNKNOWN), (b"<s>", kinds.CONTROL), (b"</s>", kinds.CONTROL)]
    tokens += [(f"<0x{byte:02X}>".encode(), kinds.BYTE) for byte in range(256)]
    return tokens + [(f" {word}".encode(), kinds.USER_DEFINED) for word in SPOKEN]


def successors(size):
    # Whatever the prompt ends with, the first word comes next.
    follows = numpy.full(size, FIRST_WORD)
    last = FIRST_WORD + len(SPOKEN) - 1
    follows[FIRST_WORD:last] = numpy.arange(FIRST_WORD + 1, last + 1)
    follows[last] = END
    return follows


def write(path):
    tokens = vocabulary()
    size = -(-len(tokens) // 64) * 64
    tokens += [(f"<pad{i}>".encode(), gguf.TokenType.UNUSED) for i in range(size - len(tokens))]
    model = gguf.GGUFWriter(path, "llama")
    describe(model, tokens, size)
    one_of = numpy.eye(size, dtype=numpy.float32)
    says = numpy.zeros((size, size), dtype=numpy.float32)
    says[successors(size), numpy.arange(size)] = 4
    ones, zeros = numpy.ones(size, dtype=numpy.float32), numpy.zeros((size, size), dtype=numpy.float32)
    tensors = {"token_embd": one_of, "output_norm": ones, "output": says}
    tensors |= {f"blk.0.{name}": ones for name in ("attn_norm", "ffn_norm")}
    matrices = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    tensors |= {f"blk.0.{name}": zeros for name in matrices}
    for name, values in tensors.items():
        model.add_tensor(f"{name}.weight", values)
    model.write_header_to_file()
    model.write_kv_data_to_file()
    model.write_tensors_to_file()
    model.close()


def describe(model, tokens, size):
    model.add_context_length(CONTEXT)
    model.add_embedding_length(size)
    model.add_block_count(1)
    model.add_feed_forward_length(size)
    model.add_head_count(HEADS)
    model.add_head_count_kv(HEADS)
    model.add_layer_norm_rms_eps(1e-5)
    model.add_rope_dimension_count(size // HEADS)
    model.add_vocab_size(size)
    model.add_tokenizer_model("llama")
    model.add_token_list([text for text, _ in tokens])
    model.add_token_scores([0.0] * size)
    model.add_token_types([kind for _, kind in tokens])
    model.add_unk_token_id(UNKNOWN)
    model.add_bos_token_id(BEGIN)
    model.add_eos_token_id(END)
    model.add_add_space_prefix(False)
    model.add_chat_template(TEMPLATE)


if __name__ == "__main__":
    write(sys.argv[1])
