"""SPDX-License-Identifier: Apache-2.0"""
import torch

from .module import Module


class RNNBase(Module):
    proj_size = 0  # what an older torch did not write

    def _weights(self):
        """Layer by layer, forward before backward."""
        names = ["weight_ih", "weight_hh"]
        if self.bias:
            names = names + ["bias_ih", "bias_hh"]
        if self.proj_size:
            names = names + ["weight_hr"]
        ways = ["", "_reverse"] if self.bidirectional else [""]
        return [getattr(self, name + "_l" + str(layer) + way)
                for layer in range(self.num_layers) for way in ways for name in names]

    def _state(self, given, x, width):
        """With an axis of the batch; zeros where none is given."""
        if given is None:
            batch = x.size(0 if self.batch_first else 1)
            layers = self.num_layers * (2 if self.bidirectional else 1)
            return torch.zeros([layers, batch, width], dtype=x.dtype)
        return given.unsqueeze(1) if given.dim() == 2 else given

    def _recur(self, operator, x, state):
        return operator(x, state, self._weights(), self.bias, self.num_layers,
                        float(self.dropout), self.training, self.bidirectional,
                        self.batch_first)

    def _batch_axis(self):
        return 0 if self.batch_first else 1


class LSTM(RNNBase):
    def forward(self, input, hx=None):
        is_batched = input.dim() == 3
        x = input if is_batched else input.unsqueeze(self._batch_axis())
        h, c = (None, None) if hx is None else hx
        h = self._state(h, x, self.proj_size or self.hidden_size)
        c = self._state(c, x, self.hidden_size)
        output, h, c = self._recur(torch.lstm, x, [h, c])
        if is_batched:
            return output, (h, c)
        return output.squeeze(self._batch_axis()), (h.squeeze(1), c.squeeze(1))


class _OneState(RNNBase):
    def forward(self, input, hx=None):
        is_batched = input.dim() == 3
        x = input if is_batched else input.unsqueeze(self._batch_axis())
        operators = {"GRU": torch.gru, "RNN_TANH": torch.rnn_tanh, "RNN_RELU": torch.rnn_relu}
        output, h = self._recur(operators[self.mode], x, self._state(hx, x, self.hidden_size))
        if is_batched:
            return output, h
        return output.squeeze(self._batch_axis()), h.squeeze(1)


class GRU(_OneState):
    pass


class RNN(_OneState):
    pass


class RNNCellBase(Module):
    def _state(self, given, input):
        if given is None:
            return torch.zeros([input.size(0), self.hidden_size], dtype=input.dtype)
        return given

    def _advance(self, operator, input, state):
        return operator(input, state, self.weight_ih, self.weight_hh, self.bias_ih,
                        self.bias_hh)


class LSTMCell(RNNCellBase):
    def forward(self, input, hx=None):
        if hx is None:
            zeros = self._state(None, input)
            hx = (zeros, zeros)
        h, c = hx
        return self._advance(torch.lstm_cell, input, [h, c])


class GRUCell(RNNCellBase):
    def forward(self, input, hx=None):
        return self._advance(torch.gru_cell, input, self._state(hx, input))


class RNNCell(RNNCellBase):
    def forward(self, input, hx=None):
        is_relu = self.nonlinearity == "relu"
        return self._advance(torch.rnn_relu_cell if is_relu else torch.rnn_tanh_cell, input,
                             self._state(hx, input))
