/** Memory and processor time of a server, its processes and its threads, from /proc. */
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

const mebibyte = 1024 // of /proc's kibibytes
const ticksPerSecond = 100

/** `kind` is a line of /proc/PID/status such as `VmRSS`; the result is in MiB. */
export async function memoryOf(pid: number, kind: 'VmRSS' | 'VmHWM' | 'RssAnon'): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8')
  return Number(new RegExp(`^${kind}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) / mebibyte
}

/** Memory of a process and its descendants in MiB. Shared pages count once. */
export async function memoryOfTree(root: number): Promise<number> {
  const shares = (await descendants(root)).map(async (pid) => {
    const rollup = await readFile(`/proc/${String(pid)}/smaps_rollup`, 'utf8').catch(() => '')
    return Number(/^Pss:\s*(\d+) kB/m.exec(rollup)?.[1] ?? 0)
  })
  return (await Promise.all(shares)).reduce((sum, share) => sum + share, 0) / mebibyte
}

/** Returns the processor time in seconds of a process and its descendants, including ended ones. */
export async function processorTimeOfTree(root: number): Promise<number> {
  const times = (await descendants(root)).map(async (pid) => {
    const fields = (await statFields(pid)) ?? []
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  })
  return (await Promise.all(times)).reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond
}

/** Processor time of a daemon by kind of thread, in microseconds. */
export interface ThreadTimes {
  /** JavaScript of the daemon, including all socket operations. */
  readonly main: number
  /** Disk: LevelDB's writes and compaction, files. */
  readonly libuv: number
  /** Compilation and garbage collection outside the main thread. */
  readonly v8: number
  /** JavaScript in worker threads. */
  readonly workers: number
}

/** Thread names of Node. All other names belong to workers, except a few idle threads. */
const kindOfThread: Readonly<Record<string, keyof ThreadTimes>> = { MainThread: 'main', 'libuv-worker': 'libuv', V8Worker: 'v8' }

/** Sums up running threads. The first field of a thread's schedstat is its time in nanoseconds. */
export async function threadTimes(pid: number): Promise<ThreadTimes> {
  const times = { main: 0, libuv: 0, v8: 0, workers: 0 }
  const folder = `/proc/${String(pid)}/task`
  for (const thread of await readdir(folder)) {
    const read = (name: string): Promise<string> => readFile(`${folder}/${thread}/${name}`, 'utf8').catch(() => '')
    const kind = kindOfThread[(await read('comm')).trim()] ?? 'workers'
    times[kind] += Number((await read('schedstat')).split(' ')[0]) / 1000
  }
  return times
}

/** Waits until a process has used less than 10% of a processor for one second, at most `mostSeconds`. Returns the waited seconds. */
export async function untilQuiet(pid: number, mostSeconds: number): Promise<number> {
  const begun = performance.now()
  for (let before = await processorTimeOfTree(pid); ;) {
    await pause(1000)
    const now = await processorTimeOfTree(pid)
    const elapsed = (performance.now() - begun) / 1000
    if (now - before < 0.1 || elapsed > mostSeconds) return elapsed
    before = now
  }
}

/** Octets that an idle process writes to disk. */
export async function writtenWhileIdle(pid: number, seconds: number): Promise<number> {
  const written = async (): Promise<number> => Number(/^write_bytes: (\d+)/m.exec(await readFile(`/proc/${String(pid)}/io`, 'utf8'))?.[1])
  const before = await written()
  await pause(seconds * 1000)
  return (await written()) - before
}

async function descendants(root: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const parents = new Map(await Promise.all(pids.map(async (pid) => [pid, Number((await statFields(pid))?.[1])] as const)))
  const within = (pid: number): boolean => pid === root || (pid > 1 && within(parents.get(pid) ?? 0))
  return pids.filter(within)
}

/** Fields of /proc/PID/stat from the state on, after the name, which may contain any character. */
async function statFields(pid: number): Promise<string[] | undefined> {
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch(() => undefined)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}
