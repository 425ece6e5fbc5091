// SPDX-License-Identifier: Apache-2.0
// oneTBB: task_group where tasks need no order or only a join, a flow graph where each task names
// the ones before it, task::suspend for the hand-over. Building and freeing a graph is measured
// with it.
#include "peer.h"

#include <oneapi/tbb.h>

#include <atomic>
#include <cstdlib>
#include <deque>

namespace {

using tbb::flow::continue_msg;
using node = tbb::flow::continue_node<continue_msg>;

tbb::global_control *threads;
tbb::task_arena *arena;

void open_arena(int workers) {
  threads = new tbb::global_control(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(workers));
  arena = new tbb::task_arena(workers);
  arena->initialize();
}

void close_arena() {
  delete arena;
  delete threads;
}

template <class Body> void measure(peer_round *round, Body body) {
  arena->execute([&] {
    uint64_t start = peer_now();
    body();
    round->ns = peer_now() - start;
  });
}

void indep(peer_round *round) {
  uint32_t *cells = peer_cells(PEER_INDEP);
  measure(round, [cells] {
    tbb::task_group group;
    for (long i = 0; i < PEER_INDEP; i++)
      group.run([cells, i] { peer_indep_run(cells, i); });
    group.wait();
  });
  peer_check_indep(round, cells);
  std::free(cells);
}

// A deque never moves its elements, which edges refer to.
struct flow {
  tbb::flow::graph graph;
  std::deque<node> nodes;

  template <class Body> node &add(Body body) {
    return nodes.emplace_back(graph, [body](const continue_msg &) {
      body();
      return continue_msg();
    });
  }

  void run() {
    nodes.front().try_put(continue_msg());
    graph.wait_for_all();
  }
};

void chain(peer_round *round) {
  uint32_t *cells = peer_cells(PEER_CHAIN);
  measure(round, [cells] {
    flow flow;
    for (long i = 0; i < PEER_CHAIN; i++) {
      node *before = i ? &flow.nodes.back() : nullptr;
      node &own = flow.add([cells, i] { peer_chain_run(cells, i); });
      if (before) tbb::flow::make_edge(*before, own);
    }
    flow.run();
  });
  peer_check_chain(round, cells);
  std::free(cells);
}

void wavefront(peer_round *round) {
  uint32_t *cells = peer_cells(PEER_CELLS);
  measure(round, [cells] {
    flow flow;
    for (std::size_t i = 0; i < PEER_CELLS; i++) {
      node &own = flow.add([cells, i] { peer_wavefront_run(cells, static_cast<long>(i)); });
      if (i >= PEER_SIDE) tbb::flow::make_edge(flow.nodes[i - PEER_SIDE], own);
      if (i % PEER_SIDE) tbb::flow::make_edge(flow.nodes[i - 1], own);
    }
    flow.run();
  });
  peer_check_wavefront(round, cells);
  std::free(cells);
}

long fib_task(int n) {
  if (n < 2) return n;
  long a = 0;
  long b = 0;
  tbb::task_group group;
  group.run([n, &a] { a = fib_task(n - 1); });
  group.run([n, &b] { b = fib_task(n - 2); });
  group.wait();
  return a + b;
}

void fib(peer_round *round) {
  long value = 0;
  measure(round, [&value, round] { value = fib_task(round->n); });
  peer_check_fib(round, value);
}

long tree_task(peer_node above, int n) {
  if (peer_tree_is_leaf(above, n)) return 1;
  long below[PEER_TREE_CHILDREN];
  long nodes = 1;
  tbb::task_group group;
  for (int k = 0; k < PEER_TREE_CHILDREN; k++)
    group.run([above, n, k, &below] { below[k] = tree_task(peer_tree_child(above, k), n); });
  group.wait();
  for (long part : below)
    nodes += part;
  return nodes;
}

void tree(peer_round *round) {
  long nodes = 0;
  measure(round, [&nodes, round] { nodes = tree_task(peer_tree_root(), round->n); });
  peer_check_tree(round, nodes);
}

// An event for one waiter that clears itself when the wait returns. A waiter's stack stays
// suspended until the signal resumes it.
class event {
public:
  // Returns whether the task had to suspend.
  bool wait() {
    if (state.load(std::memory_order_acquire) == SIGNALLED) {
      state.store(CLEAR, std::memory_order_relaxed);
      return false;
    }
    tbb::task::suspend([this](tbb::task::suspend_point point) {
      waiter = point;
      // Pairs with the exchange in signal: one of the two sees the other and resumes the waiter.
      if (state.exchange(WAITING, std::memory_order_acq_rel) == SIGNALLED) resume();
    });
    return true;
  }

  void signal() {
    if (state.exchange(SIGNALLED, std::memory_order_acq_rel) == WAITING) resume();
  }

private:
  enum { CLEAR, SIGNALLED, WAITING };

  void resume() {
    tbb::task::suspend_point point = waiter;
    state.store(CLEAR, std::memory_order_relaxed);
    tbb::task::resume(point);
  }

  std::atomic<int> state{CLEAR};
  tbb::task::suspend_point waiter{};
};

void pingpong(peer_round *round) {
  long handovers = 0;
  std::atomic<long> suspended{0};
  measure(round, [&] {
    event turns[2];
    tbb::task_group group;
    turns[0].signal();
    for (int me = 0; me < 2; me++) {
      group.run([&, me] {
        long waits = 0;
        for (long k = 0; k < PEER_HANDOVERS; k++) {
          if (turns[me].wait()) waits++;
          handovers++;
          turns[!me].signal();
        }
        suspended += waits;
      });
    }
    group.wait();
  });
  round->suspended = suspended;
  peer_check_pingpong(round, handovers);
}

void fan(peer_round *round) {
  uint32_t *cells = peer_cells(PEER_FAN_CELLS);
  peer_fan both = peer_fan_over(cells);
  measure(round, [both] {
    tbb::task_group group;
    for (long r = 0; r < PEER_FAN_ROUNDS; r++) {
      for (long i = 0; i < PEER_FAN_WIDTH; i++)
        group.run([both, r, i] { peer_fan_run(both, r, i); });
      group.wait();
      peer_fan_join(both, r);
    }
  });
  peer_check_fan(round, cells);
  std::free(cells);
}

void roundtrip(peer_round *round) {
  long runs = 0;
  measure(round, [&runs] {
    tbb::task_group group;
    for (long i = 0; i < PEER_ROUNDTRIPS; i++) {
      group.run([&runs] { runs++; });
      group.wait();
    }
  });
  peer_check_roundtrip(round, runs);
}

constexpr peer_shape shape(const char *name, void (*run)(peer_round *), int n = 0, int max_n = 0) {
  return {name, run, nullptr, 0, 0, n, max_n};
}

const peer_shape shapes[] = {
    shape("indep", indep),
    shape("chain", chain),
    shape("wavefront", wavefront),
    shape("fib", fib, PEER_FIB, PEER_MOST_FIB),
    shape("tree", tree, PEER_TREE, PEER_MOST_TREE),
    shape("pingpong", pingpong),
    shape("fan", fan),
    shape("roundtrip", roundtrip),
    shape(nullptr, nullptr),
};

} // namespace

int main(int argc, char **argv) {
  const peer tbb_peer = {"tbb", shapes, open_arena, close_arena};
  return peer_main(argc, argv, &tbb_peer);
}
