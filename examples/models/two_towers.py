"""Retrieval with two towers: items are embedded once, a query is embedded and looks up the
nearest ten, all in one compiled program.

    python two_towers.py [--no-peer]

SPDX-License-Identifier: Apache-2.0
"""
import torch
from torch import nn

from side_by_side import compile_and_check, tell_speed

USERS, ITEMS, TAGS, WIDTH, TOP = 10_000, 5_000, 300, 32, 10


class Tower(nn.Module):
    """An id and a bag of tags to a vector of length 1."""

    def __init__(self, ids):
        super().__init__()
        self.ids = nn.Embedding(ids, WIDTH)
        self.tags = nn.EmbeddingBag(TAGS, WIDTH, mode="mean")
        self.mlp = nn.Sequential(nn.Linear(2 * WIDTH, 64), nn.ReLU(), nn.Linear(64, WIDTH))

    def forward(self, ids, tags):
        joined = torch.cat([self.ids(ids), self.tags(tags)], dim=1)
        return nn.functional.normalize(self.mlp(joined), dim=1)


class Retrieval(nn.Module):
    """A query tower over an index: scores and numbers of the best items."""

    def __init__(self, tower, index):
        super().__init__()
        self.tower = tower
        self.register_buffer("index", index)

    def forward(self, ids, tags):
        scores, found = torch.topk(self.tower(ids, tags) @ self.index.T, TOP, dim=1)
        return scores, found


def train(users, items, steps=30, batch=256):
    """Users like items of the same number modulo 50; negatives are those of the batch."""
    optimizer = torch.optim.Adam([*users.parameters(), *items.parameters()], lr=1e-2)
    for _ in range(steps):
        user, item = torch.randint(0, 50, (batch,)), torch.randint(0, 100, (batch,)) * 50
        tags = (user % TAGS).unsqueeze(1).repeat(1, 4)
        item = item + user
        logits = users(user, tags) @ items(item, tags).T * 10
        loss = nn.functional.cross_entropy(logits, torch.arange(batch))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    users, items = Tower(USERS), Tower(ITEMS)
    print(f"loss after training: {train(users, items):.3f}")

    # The index is made by the compiled item tower, in batches of any size.
    batch = torch.export.Dim("batch", min=2)
    shapes = ({0: batch}, {0: batch})
    all_items = torch.arange(ITEMS)
    item_tags = (all_items % 50 % TAGS).unsqueeze(1).repeat(1, 4)
    embed = compile_and_check(items, (all_items[:8], item_tags[:8]), shapes)
    index = torch.cat([embed(all_items[i:i + 512], item_tags[i:i + 512])
                       for i in range(0, ITEMS, 512)])

    retrieval = Retrieval(users, index)
    query = (torch.arange(16), torch.arange(16).unsqueeze(1).repeat(1, 4))
    program = compile_and_check(retrieval, query, shapes)
    scores, found = program(*query)
    assert scores.shape == (16, TOP) and (scores[:, :-1] >= scores[:, 1:]).all()
    print(f"items found for user 7: {found[7].tolist()}")
    program.save("two_towers.ingot")
    tell_speed("16 queries", program, retrieval, query)


main()
