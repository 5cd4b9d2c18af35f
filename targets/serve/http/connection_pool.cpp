// SPDX-License-Identifier: Apache-2.0
#include "targets/serve/http/connection_pool.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "targets/serve/request_error.hpp"

namespace embert::serve {

using Clock = std::chrono::steady_clock;

/// Whether bytes of a request have arrived that no thread has read yet.
static bool has_request(int file) {
  char byte;
  return recv(file, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

using Lock = std::unique_lock<std::mutex>;

ConnectionPool::ConnectionPool(uint32_t connections, Converse converse)
    : most_(connections), converse_(std::move(converse)) {
  try {
    for (uint32_t i = 0; i < connections; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    const size_t started = threads_.size();
    stop();
    throw InternalError("cannot start thread " + std::to_string(started + 1) + " of " +
                        std::to_string(connections) + " (--connections): " + error.what());
  } catch (...) {
    stop();
    throw;
  }
}

ConnectionPool::~ConnectionPool() { stop(); }

bool ConnectionPool::take(int file) {
  const Lock lock(mutex_);
  const size_t all = accepted_.size() + open_.size();
  if (all >= 2 * size_t{most_}) return false;  // too many are about to leave
  const auto leaves = [](const Connection& one) { return one.is_leaving; };
  const auto leaving = std::count_if(accepted_.begin(), accepted_.end(), leaves) +
                       std::count_if(open_.begin(), open_.end(), leaves);
  if (all - static_cast<size_t>(leaving) >= most_) {
    Connection* oldest = longest_idle();
    if (oldest == nullptr) return false;
    oldest->is_leaving = true;
    shutdown(oldest->file, SHUT_RD);  // wakes its thread
  }
  accepted_.push_back({file, Clock::now()});
  wake_.notify_one();
  return true;
}

ConnectionPool::Connection* ConnectionPool::longest_idle() {
  Connection* oldest = nullptr;
  for (std::list<Connection>* list : {&accepted_, &open_}) {
    for (Connection& one : *list) {
      if (!one.idle_since || one.is_leaving) continue;
      if (oldest != nullptr && *one.idle_since >= *oldest->idle_since) continue;
      if (!has_request(one.file)) oldest = &one;
    }
  }
  return oldest;
}

bool ConnectionPool::wait_for_request(Connection& connection, const ClientSocket& socket,
                                      std::chrono::seconds patience) {
  Deadline deadline = Clock::now() + patience;
  {
    const Lock lock(mutex_);
    if (stopping_) deadline = Clock::now();  // a request that has arrived is answered
    connection.idle_since = Clock::now();
  }
  const bool is_readable = socket.wait_readable(deadline);
  const Lock lock(mutex_);
  connection.idle_since.reset();
  return is_readable && !connection.is_leaving;
}

void ConnectionPool::work() {
  Lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !accepted_.empty(); });
    if (accepted_.empty()) return;
    open_.splice(open_.end(), accepted_, accepted_.begin());
    const auto entry = std::prev(open_.end());
    lock.unlock();
    {
      ClientSocket socket(entry->file);
      try {
        converse_(*entry, socket);
      } catch (...) {  // no memory, not even for a refusal: the connection ends
      }
      lock.lock();
      open_.erase(entry);  // before the socket's number can belong to another one
    }
  }
}

void ConnectionPool::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
    for (Connection& one : open_) {
      if (one.idle_since) shutdown(one.file, SHUT_RD);
    }
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

bool ConnectionPool::is_stopping() const {
  const Lock lock(mutex_);
  return stopping_;
}

size_t ConnectionPool::connections() const {
  const Lock lock(mutex_);
  return accepted_.size() + open_.size();
}

}  // namespace embert::serve
