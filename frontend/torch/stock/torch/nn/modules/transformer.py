"""SPDX-License-Identifier: Apache-2.0"""
from .. import functional as F
from .module import Module


class _Layer(Module):
    norm_first = False  # what an older torch did not write
    activation = staticmethod(F.relu)

    def _attend(self, attention, norm, dropout, x, memory, mask, padding):
        """x plus attention over `memory` (None: itself), with the norm before or after."""
        z = norm(x) if self.norm_first else x
        memory = z if memory is None else memory
        made = attention(z, memory, memory, padding, False, mask)[0]
        x = x + dropout(made)
        return x if self.norm_first else norm(x)

    def _feed_forward(self, norm, dropout, x):
        z = self.linear1(norm(x) if self.norm_first else x)
        x = x + dropout(self.linear2(self.dropout(self.activation(z))))
        return x if self.norm_first else norm(x)


class TransformerEncoderLayer(_Layer):
    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        x = self._attend(self.self_attn, self.norm1, self.dropout1, src, None, src_mask,
                         src_key_padding_mask)
        return self._feed_forward(self.norm2, self.dropout2, x)


class TransformerDecoderLayer(_Layer):
    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None,
                tgt_key_padding_mask=None, memory_key_padding_mask=None, tgt_is_causal=False,
                memory_is_causal=False):
        x = self._attend(self.self_attn, self.norm1, self.dropout1, tgt, None, tgt_mask,
                         tgt_key_padding_mask)
        x = self._attend(self.multihead_attn, self.norm2, self.dropout2, x, memory, memory_mask,
                         memory_key_padding_mask)
        return self._feed_forward(self.norm3, self.dropout3, x)


class TransformerEncoder(Module):
    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None,
                tgt_key_padding_mask=None, memory_key_padding_mask=None, tgt_is_causal=None,
                memory_is_causal=False):
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                        memory_key_padding_mask)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None,
                src_key_padding_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None,
                memory_is_causal=False):
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                            memory_key_padding_mask)
