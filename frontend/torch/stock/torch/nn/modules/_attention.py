"""What MultiheadAttention computes.  SPDX-License-Identifier: Apache-2.0"""
import torch

from .module import Module


def _for_more_keys(mask, count):
    """A mask that hides none of the keys that were added at the end."""
    more = count - mask.size(-1)
    return torch.constant_pad_nd(mask, [0, more], 0) if more > 0 else mask


def _hide(scores, mask):
    """mask: the truth of what is hidden, or what is added."""
    if mask.dtype == torch.bool:
        return scores.masked_fill(mask, float("-inf"))
    return scores + mask


class Attention(Module):
    batch_first = False  # what an older torch did not write

    def _batch_and_rows(self, x, is_batched):
        """[batch, row, width]"""
        if not is_batched:
            return x.unsqueeze(0)
        return x if self.batch_first else x.transpose(0, 1)

    def _project(self, x, part):
        """By one of the three weights: of queries, keys, values."""
        width, bias = self.embed_dim, self.in_proj_bias
        if self._qkv_same_embed_dim:
            weight = self.in_proj_weight.narrow(0, part * width, width)
        else:
            weight = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight][part]
        if bias is not None:
            bias = bias.narrow(0, part * width, width)
        return torch.linear(x, weight, bias)

    def _extend(self, x, bias):
        if bias is not None:
            x = torch.cat([x, bias.expand([x.size(0), 1, self.embed_dim])], 1)
        if self.add_zero_attn:
            x = torch.cat([x, torch.zeros_like(x.narrow(1, 0, 1))], 1)
        return x

    def _split_heads(self, x):
        """[batch, head, row, width]"""
        x = x.reshape([x.size(0), x.size(1), self.num_heads, self.head_dim])
        return x.transpose(1, 2)

    def _weigh(self, q, k, key_padding_mask, attn_mask):
        batch, rows, keys = q.size(0), q.size(2), k.size(2)
        scores = torch.matmul(q * float(self.head_dim) ** -0.5, k.transpose(-2, -1))
        if attn_mask is not None:
            if attn_mask.dim() == 3:
                attn_mask = attn_mask.reshape([batch, self.num_heads, rows, attn_mask.size(2)])
            scores = _hide(scores, _for_more_keys(attn_mask, keys))
        if key_padding_mask is not None:
            mask = _for_more_keys(key_padding_mask, keys)
            scores = _hide(scores, mask.reshape([batch, 1, 1, keys]))
        return torch.dropout(torch.softmax(scores, -1), self.dropout, self.training)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True,
                attn_mask=None, average_attn_weights=True, is_causal=False):
        is_batched = query.dim() == 3
        q, k, v = [self._project(self._batch_and_rows(x, is_batched), part)
                   for part, x in enumerate([query, key, value])]
        k, v = self._extend(k, self.bias_k), self._extend(v, self.bias_v)
        shape = [q.size(0), q.size(1), self.embed_dim]
        weights = self._weigh(self._split_heads(q), self._split_heads(k), key_padding_mask,
                              attn_mask)
        mixed = torch.matmul(weights, self._split_heads(v)).transpose(1, 2).reshape(shape)
        output = torch.linear(mixed, self.out_proj.weight, self.out_proj.bias)
        shown = weights.mean([1]) if average_attn_weights else weights
        if not is_batched:
            output, shown = output.squeeze(0), shown.squeeze(0)
        elif not self.batch_first:
            output = output.transpose(0, 1)
        return (output, shown) if need_weights else (output, None)
