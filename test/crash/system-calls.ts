/** Parses the output of `strace -f -ttt -yy`: system calls of all threads with their start and end times. */

export interface SystemCall {
  readonly name: string
  /** The first argument as strace decorates it: `23</data/store/000003.log>` or `24<TCP:[127.0.0.1:…]>`. */
  readonly file: string
  /** All arguments and the result, as printed. */
  readonly text: string
  /** Line numbers of the start and the end of the call in the output. They define the order if timestamps are equal. */
  readonly begun: number
  readonly ended: number
}

const complete = /^(\d+) +[\d.]+ (\w+)\(((?:\d+<(?:[^>]|(?<=-)>)*>)?)(.*)$/s
const resumed = /^(\d+) +[\d.]+ <\.\.\. (\w+) resumed>(.*)$/s
const unfinished = /<unfinished \.\.\.>$/

/** Returns all calls in the order of their ends, without unfinished calls. */
export function readTrace(trace: string): SystemCall[] {
  const calls: SystemCall[] = []
  const open = new Map<string, Omit<SystemCall, 'ended'>>()
  for (const [index, line] of trace.split('\n').entries()) {
    const rest = resumed.exec(line)
    if (rest) {
      const begun = open.get(rest[1] ?? '')
      if (begun && begun.name === rest[2]) calls.push({ ...begun, text: begun.text + (rest[3] ?? ''), ended: index })
      open.delete(rest[1] ?? '')
      continue
    }
    const [, pid = '', name = '', file = '', text = ''] = complete.exec(line) ?? []
    if (name === '') continue
    if (unfinished.test(text)) open.set(pid, { name, file, text, begun: index })
    else calls.push({ name, file, text, begun: index, ended: index })
  }
  return calls
}

export const isSocket = ({ file }: SystemCall): boolean => /<(?:TCP|socket)/.test(file)
/** Returns true for a file on disk, false for the pipes of log lines. */
export const isFile = ({ file }: SystemCall): boolean => /^\d+<\//.test(file)
export const isSync = ({ name, text }: SystemCall): boolean => (name === 'fdatasync' || name === 'fsync') && text.trimEnd().endsWith('= 0')
/** Returns a file opened with synchronous writes; undefined for other calls. */
export const openedSynced = ({ name, text }: SystemCall): string | undefined =>
  name === 'openat' && text.includes('|O_DSYNC') ? /= (\d+<[^>]*>)$/.exec(text.trimEnd())?.[1] : undefined
export const isRead = ({ name }: SystemCall): boolean => name === 'read' || name === 'recvfrom' || name === 'readv' || name === 'recvmsg'
export const isWrite = ({ name }: SystemCall): boolean => /^(?:p?writev?2?|pwrite64|sendto|sendmsg)$/.test(name)
