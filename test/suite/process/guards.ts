/**
 * Detects resources that a test leaves open in its process: servers, sockets, children, replaced globals, folders. Compares the process
 * with its state before the test and names each leftover.
 */
import crypto from 'node:crypto'
import { readdirSync } from 'node:fs'
import { globalAgent } from 'node:https'
import { tmpdir } from 'node:os'
import { inspect } from 'node:util'
import { openNow } from '../../support/left-open.ts'

/** Kinds of `process.getActiveResourcesInfo()` that a test must close. */
const kinds = new Map([
  ['TCPServerWrap', 'a listening server'],
  ['TCPSocketWrap', 'a connection'],
  ['PipeServerWrap', 'a listening server on a path'],
  ['PipeWrap', 'a pipe'],
  ['UDPWrap', 'a UDP socket'],
  ['ProcessWrap', 'a child process'],
  ['MessagePort', 'a worker'],
  ['Worker', 'a worker'],
  ['FSEventWrap', 'a watched file'],
  ['StatWatcher', 'a watched file'],
])

/** State of the process that the next test inherits. */
export interface Snapshot {
  readonly open: ReadonlyMap<string, number>
  readonly environment: string
  readonly folder: string
  readonly listeners: ReadonlyMap<string, number>
  readonly agent: string
  readonly globals: readonly unknown[]
  readonly folders: ReadonlySet<string>
}

const names = [
  'Date',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
  'queueMicrotask',
]
const methods: readonly (readonly [string, object])[] = [
  ...['now', 'UTC', 'parse'].map((name) => [name, Date] as const),
  ['now', performance],
  ['random', Math],
  ['nextTick', process],
  ['exit', process],
  ...Object.keys(crypto).map((name) => [name, crypto] as const),
]
/** Reads a value without calling getters: deprecated getters of `node:crypto` print warnings. */
const read = (name: string, object: object): unknown => Object.getOwnPropertyDescriptor(object, name)?.value

function globalNames(): readonly string[] {
  const owners = new Map<object, string>([
    [Date, 'Date'],
    [performance, 'performance'],
    [Math, 'Math'],
    [process, 'process'],
    [crypto, 'crypto'],
  ])
  return [...names, ...methods.map(([name, owner]) => `${owners.get(owner) ?? ''}.${name}`), 'process.exitCode']
}

function count(): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) if (kinds.has(kind)) found.set(kind, (found.get(kind) ?? 0) + 1)
  for (const kind of openNow()) found.set(kind, (found.get(kind) ?? 0) + 1)
  return found
}

const foldersOfProject = (): ReadonlySet<string> => new Set(readdirSync(tmpdir()).filter((name) => name.startsWith('postern-')))

export function snapshot(): Snapshot {
  return {
    open: count(),
    environment: JSON.stringify(Object.entries(process.env).toSorted(([one], [other]) => one.localeCompare(other))),
    folder: process.cwd(),
    listeners: new Map(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
    agent: JSON.stringify(Object.keys(globalAgent.options)),
    globals: [
      ...names.map((name) => (globalThis as Record<string, unknown>)[name]),
      ...methods.map(([name, owner]) => read(name, owner)),
      process.exitCode,
    ],
    folders: foldersOfProject(),
  }
}

/** Collects unhandled rejections of this process. */
export class Rejections {
  readonly #open = new Map<Promise<unknown>, unknown>()

  constructor() {
    process.on('unhandledRejection', (reason, promise) => void this.#open.set(promise, reason))
    process.on('rejectionHandled', (promise) => void this.#open.delete(promise))
  }

  get areOpen(): boolean {
    return this.#open.size > 0
  }

  /** Returns and clears the collected rejections. They count as handled, so that AVA does not report them again. */
  take(): readonly string[] {
    const taken = [...this.#open]
    for (const [promise] of taken) promise.catch(() => {})
    this.#open.clear()
    return taken.map(([, reason]) => `an unhandled rejection: ${inspect(reason)}`)
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
/** Turns of the event loop that a connection may need to close. */
const turns = 50

/**
 * Returns a phrase for each difference to the snapshot, without ignored kinds of resources. Waits for closing resources to close;
 * `isLate` ends this wait. Node emits no event when a handle closes, so the wait checks each turn, and then every 20 ms.
 */
export async function leftSince(
  before: Snapshot,
  isLate: () => boolean,
  ignores: (kind: string) => boolean = () => false,
): Promise<readonly string[]> {
  await turn() // handles close and rejections are reported in the next turn
  let left = differences(before, ignores)
  for (let n = 0; left.length > 0 && (n < turns || !isLate()); n++) {
    if (n < turns) await turn()
    else await new Promise((resolve) => setTimeout(resolve, 20))
    left = differences(before, ignores)
  }
  return left
}

function differences(before: Snapshot, ignores: (kind: string) => boolean): readonly string[] {
  const now = snapshot()
  const left: string[] = []
  for (const [kind, number] of now.open) {
    const more = number - (before.open.get(kind) ?? 0)
    if (more > 0 && !ignores(kind)) left.push(kinds.has(kind) ? `${kinds.get(kind) ?? ''} (${kind}, ${String(more)})` : kind)
  }
  if (now.environment !== before.environment) left.push(`a changed process.env (${changed(before.environment, now.environment)})`)
  if (now.folder !== before.folder) left.push(`a changed working directory (${now.folder})`)
  for (const [name, number] of now.listeners) if (number > (before.listeners.get(name) ?? 0)) left.push(`a listener of process for ${name}`)
  if (now.agent !== before.agent) left.push(`changed options of the agent of node:https (before ${before.agent}, now ${now.agent})`)
  const replaced = globalNames().filter((_, index) => now.globals[index] !== before.globals[index])
  for (const name of replaced) left.push(`a replaced ${name}`)
  for (const name of now.folders) if (!before.folders.has(name)) left.push(`the temporary folder ${name}`)
  return left
}

function changed(before: string, now: string): string {
  const was = new Map(JSON.parse(before) as [string, string][])
  const is = new Map(JSON.parse(now) as [string, string][])
  return [...new Set([...was.keys(), ...is.keys()])].filter((name) => was.get(name) !== is.get(name)).join(', ')
}
