// @ts-check
/** Starts the program again with the Node.js of its packages. This file must run on Node.js 14, because older versions start it. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants } from 'node:os'

/** Set for the second start, which removes it. It prevents a third start. */
const marker = 'POSTERN_SECOND_START'
/** @type {readonly NodeJS.Signals[]} */
const forwarded = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']
/** Time for a signal to end this process. */
const endMs = 1000

/** Whether this is the second start of a program that an older Node.js started. Call it once. */
export function isSecondStart() {
  const is = process.env[marker] !== undefined
  delete process.env[marker]
  return is
}

/**
 * Runs the program with the Node.js of the packages, and ends this process in the same way. Returns if that Node.js is missing or does not
 * start.
 */
export async function runWithOwnNode() {
  const program = ownNode()
  if (program === undefined) return
  for (const signal of forwarded) process.on(signal, forward)
  const child = spawn(program, [...process.execArgv, ...process.argv.slice(1)], {
    env: { ...process.env, [marker]: '1' },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  child.once('exit', endAs)
  /** @type {NodeJS.ErrnoException} */
  const error = await new Promise((resolve) => {
    child.once('error', resolve)
  })
  stopForwarding()
  process.stderr.write(`${program} does not start: ${error.code}.\n`)

  /** @param {NodeJS.Signals} signal */
  function forward(signal) {
    child.send(signal, () => {}) // fails after the child has ended
  }

  function stopForwarding() {
    for (const signal of forwarded) process.off(signal, forward)
  }

  /**
   * @param {number | null} code
   * @param {NodeJS.Signals | null} signal
   */
  function endAs(code, signal) {
    if (signal === null) process.exit(code === null ? 1 : code)
    stopForwarding()
    process.kill(process.pid, signal)
    setTimeout(() => process.exit(128 + constants.signals[signal]), endMs) // for a signal that does not end this process
  }
}

/**
 * Handles the signals that the first process forwards. A terminal and systemd send a signal to both processes. It counts once, in any order
 * and with any delay. The end of the first process counts as SIGTERM.
 */
export function takeForwardedSignals() {
  /** @type {import('node:events').EventEmitter} */
  const events = process
  const emit = events.emit.bind(events)
  /** @type {Map<string, number>} */
  const own = new Map()
  /** @type {Map<string, number>} */
  const ofFirst = new Map()
  events.emit = (name, ...values) =>
    typeof name === 'string' && isSignal(name) ? isNew(name, own, ofFirst) && emit(name, ...values) : emit(name, ...values)
  process.on('message', (signal) => {
    if (typeof signal === 'string' && isSignal(signal)) take(signal)
  })
  // SIGKILL ended the first process
  process.on('disconnect', () => {
    if (!['SIGTERM', 'SIGINT'].some((signal) => own.has(signal) || ofFirst.has(signal))) take('SIGTERM')
  })
  process.channel?.unref()

  /** @param {NodeJS.Signals} signal */
  function take(signal) {
    if (!isNew(signal, ofFirst, own)) return // also after the program has removed its handler
    if (events.listenerCount(signal) === 0) process.kill(process.pid, signal)
    else emit(signal, signal, constants.signals[signal])
  }
}

/**
 * Counts a signal of one source, and returns whether the other source has not delivered it yet.
 * @param {string} name
 * @param {Map<string, number>} counts
 * @param {Map<string, number>} others
 */
function isNew(name, counts, others) {
  const count = (counts.get(name) ?? 0) + 1
  counts.set(name, count)
  return count > (others.get(name) ?? 0)
}

/**
 * @param {string} name
 * @returns {name is NodeJS.Signals}
 */
function isSignal(name) {
  return forwarded.includes(/** @type {NodeJS.Signals} */ (name))
}

function ownNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`)
  } catch {
    return undefined // such as on a system without that package
  }
}
