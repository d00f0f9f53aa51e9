"""Forwards that follow a layer's attributes: where the compiler writes code for each module,
an interpreter runs it.  SPDX-License-Identifier: Apache-2.0
"""
from .. import functional
from ... import _ops

# ---- pools and sizes ----


def adaptive_pool(name):
    kind, rank = name[len("Adaptive"):-len("Pool1d")].lower(), int(name[-2])

    def forward(self, input):  # noqa: A002
        size = self.output_size
        size = list(size) if isinstance(size, (list, tuple)) else [size] * rank
        size = [n if n is not None else input.shape[i - rank] for i, n in enumerate(size)]
        result = _ops.call(f"adaptive_{kind}_pool{rank}d", input, size)
        return result if kind == "avg" or self.return_indices else result[0]
    return forward


def upsample(self, input):  # noqa: A002
    scale = None if self.size is not None else self.scale_factor
    recompute = getattr(self, "recompute_scale_factor", None)
    return functional.interpolate(input, self.size, scale, self.mode, self.align_corners, recompute)


# ---- recurrent ----

def _weights(self):
    names = ["weight_ih", "weight_hh", *(["bias_ih", "bias_hh"] if self.bias else []),
             *(["weight_hr"] if getattr(self, "proj_size", 0) else [])]
    directions = ["", "_reverse"] if self.bidirectional else [""]
    return [getattr(self, f"{name}_l{layer}{direction}") for layer in range(self.num_layers)
            for direction in directions for name in names]


def _state(self, given, batch, width, kind):
    """With an axis of the batch; zeros where none is given."""
    if given is None:
        count = self.num_layers * (2 if self.bidirectional else 1)
        return _ops.call("zeros", [count, batch, width], dtype=kind)
    return given.unsqueeze(1) if given.ndim == 2 else given


def _recur(self, name, x, state):
    if self.training and self.dropout:
        raise NotImplementedError(f"nn.{type(self).__name__}: dropout draws random numbers: "
                                  "call eval() first")
    return _ops.call(name, x, state, _weights(self), self.bias, self.num_layers,
                     float(self.dropout), False, self.bidirectional, self.batch_first)


def _batched(self, x):
    """x with a batch, the axis of it, and whether it was there."""
    axis = 0 if self.batch_first else 1
    return (x, axis, True) if x.ndim == 3 else (x.unsqueeze(axis), axis, False)


def lstm(self, input, hx=None):  # noqa: A002
    x, axis, is_batched = _batched(self, input)
    h, c = (None, None) if hx is None else hx
    width = getattr(self, "proj_size", 0) or self.hidden_size
    h = _state(self, h, x.shape[axis], width, x.dtype)
    c = _state(self, c, x.shape[axis], self.hidden_size, x.dtype)
    y, h, c = _recur(self, "lstm", x, [h, c])
    return (y, (h, c)) if is_batched else (y.squeeze(axis), (h.squeeze(1), c.squeeze(1)))


def rnn(self, input, hx=None):  # noqa: A002
    x, axis, is_batched = _batched(self, input)
    h = _state(self, hx, x.shape[axis], self.hidden_size, x.dtype)
    y, h = _recur(self, self.mode.lower(), x, h)
    return (y, h) if is_batched else (y.squeeze(axis), h.squeeze(1))


# ---- transformers ----

def _attend(self, attention, number, x, memory, mask, padding, is_causal):
    """x plus attention over `memory` (None: itself), with the norm before or after."""
    norm = getattr(self, f"norm{number}")
    z = norm(x) if self.norm_first else x
    memory = z if memory is None else memory
    made = attention(z, memory, memory, key_padding_mask=padding, need_weights=False,
                     attn_mask=mask, is_causal=is_causal)[0]
    x = x + getattr(self, f"dropout{number}")(made)
    return x if self.norm_first else norm(x)


def _feed_forward(self, number, x):
    norm = getattr(self, f"norm{number}")
    z = self.activation(self.linear1(norm(x) if self.norm_first else x))
    x = x + getattr(self, f"dropout{number}")(self.linear2(self.dropout(z)))
    return x if self.norm_first else norm(x)


def encoder_layer(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
    x = _attend(self, self.self_attn, 1, src, None, src_mask, src_key_padding_mask, is_causal)
    return _feed_forward(self, 2, x)


def decoder_layer(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                  memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False):
    x = _attend(self, self.self_attn, 1, tgt, None, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
    x = _attend(self, self.multihead_attn, 2, x, memory, memory_mask, memory_key_padding_mask,
                memory_is_causal)
    return _feed_forward(self, 3, x)


def _last_norm(self, x):
    return x if self.norm is None else self.norm(x)


def encoder(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
    for layer in self.layers:
        src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
    return _last_norm(self, src)


def decoder(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
            memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False):
    for layer in self.layers:
        tgt = layer(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                    tgt_key_padding_mask=tgt_key_padding_mask,
                    memory_key_padding_mask=memory_key_padding_mask)
    return _last_norm(self, tgt)


def transformer(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None,
                src_key_padding_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None,
                memory_is_causal=False):
    memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask)
    return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                        tgt_key_padding_mask=tgt_key_padding_mask,
                        memory_key_padding_mask=memory_key_padding_mask)


FORWARDS = {
    "LSTM": lstm, "GRU": rnn, "RNN": rnn, "TransformerEncoderLayer": encoder_layer,
    "TransformerDecoderLayer": decoder_layer, "TransformerEncoder": encoder,
    "TransformerDecoder": decoder, "Transformer": transformer,
    **dict.fromkeys(["Upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d"], upsample),
    **{name: adaptive_pool(name) for name in (f"Adaptive{kind}Pool{rank}d"
                                              for kind in ("Avg", "Max") for rank in (1, 2, 3))},
}
