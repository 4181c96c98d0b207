/**
 * Section "memory": whether the memory that the documentation asks for is enough. The daemon runs in a control group with that limit and
 * no swap, where the kernel ends what needs more, under small and large messages that are relayed at once.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { neededMemoryMib } from '#core/doctor/process-findings.ts'
import { recipient, sender, startPostern } from './contenders.ts'
import { loadBySmtp } from './load/generators.ts'
import { SmtpSink } from './load/smtp-sink.ts'
import type { BenchOptions } from './options.ts'
import { memoryOf } from './resources.ts'
import { row, type Section } from './results.ts'

const small = { sessions: 15, size: 20_000 }
const large = { sessions: 1, size: 1_400_000 }
const waits = { pipelining: false, perConnection: false, starttls: false }

export async function measureMemory({ messages, seconds }: BenchOptions): Promise<Section> {
  await using sink = await SmtpSink.start()
  await using postern = await startPostern(sink.port)
  const { pid } = postern.daemon.addresses
  const idle = await memoryOf(pid, 'VmRSS')
  await using group = await ControlGroup.make(neededMemoryMib * 1_048_576)
  await group.take(pid)
  const target = { ...{ port: postern.port, login: postern.login, from: sender, to: recipient }, ...waits, mostSeconds: seconds }
  const loads = await Promise.all([
    loadBySmtp({ ...target, ...small, count: messages }),
    loadBySmtp({ ...target, ...large, count: Math.ceil(messages / 20) }),
  ])
  const acknowledged = loads.map((load) => load.acknowledged)
  const isAlive = existsSync(`/proc/${pid}`)
  const most = await memoryOf(pid, 'VmHWM')
  return {
    name: 'memory',
    lines: [
      `Relay in a control group of ${neededMemoryMib} MiB: ${small.sessions} clients with ${small.size} octets each, and a client with ${large.size} octets.`,
      row('', ['small', 'large', 'idle MiB', 'most MiB']),
      row('acknowledged', [...acknowledged, idle, most]),
    ],
    verdicts: [{ goal: `memory: ${neededMemoryMib} MiB are enough`, value: isAlive ? 'yes' : 'no', met: isAlive }],
    data: { acknowledged, idle, most, isAlive },
  }
}

/** A control group of version 2, or of the memory controller of version 1. */
class ControlGroup implements AsyncDisposable {
  readonly #path: string
  readonly #parent: string

  private constructor(path: string, parent: string) {
    this.#path = path
    this.#parent = parent
  }

  /** Creates a group with a limit in octets. Throws if this user may not create one. */
  static async make(limit: number): Promise<ControlGroup> {
    const isSecond = existsSync('/sys/fs/cgroup/cgroup.controllers')
    const parent = isSecond ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory'
    const path = join(parent, `postern-bench-${process.pid}`)
    try {
      await mkdir(path)
    } catch (error) {
      throw new Error('control groups of memory are needed, which root may make', { cause: error })
    }
    await writeFile(join(path, isSecond ? 'memory.max' : 'memory.limit_in_bytes'), String(limit))
    if (isSecond) await writeFile(join(path, 'memory.swap.max'), '0')
    return new ControlGroup(path, parent)
  }

  take(pid: number): Promise<void> {
    return writeFile(join(this.#path, 'cgroup.procs'), String(pid))
  }

  /** Moves its processes back to the parent group. */
  async [Symbol.asyncDispose](): Promise<void> {
    const pids = (await readFile(join(this.#path, 'cgroup.procs'), 'utf8')).split('\n').filter((pid) => pid !== '')
    for (const pid of pids) await writeFile(join(this.#parent, 'cgroup.procs'), pid)
    await rmdir(this.#path)
  }
}
