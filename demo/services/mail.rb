# SPDX-License-Identifier: BSD-2-Clause
# A worker that takes jobs from a queue: ruby mail.rb
Job = Struct.new(:to, :lines)

def render(job)
  "Dear #{job.to},\n" + job.lines.map { |l| l.split.map(&:capitalize).join(" ") }.join("\n")
end

def deliver(job)
  render(job).each_line.sum { |l| l.hash & 15 }
end

queue = Queue.new
Thread.new do
  loop do
    20.times { |i| queue << Job.new("customer #{i}", ["your order #{i} is on its way"] * 50) }
    sleep 0.02
  end
end
loop { deliver(queue.pop) }
