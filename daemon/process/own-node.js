// @ts-check
/** Starts the program again with the Node.js of its own packages. JavaScript that Node.js 14 can read, as older versions run it. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants } from 'node:os'

/** Set for the second start, which removes it: it prevents a third start. */
const marker = 'POSTERN_SECOND_START'
/** @type {readonly NodeJS.Signals[]} */
const forwarded = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']
/** Signals that stop the daemon at once when they arrive twice. */
const stopSignals = ['SIGTERM', 'SIGINT']
/** A forwarded signal arrives within this time after the same signal of a terminal or a supervisor. */
const echoMs = 1000

/** Whether this is the second start of a program that an older Node.js started. To be called once. */
export function isSecondStart() {
  const is = process.env[marker] !== undefined
  delete process.env[marker]
  return is
}

/**
 * Runs the program with the Node.js of the packages, and ends this process as that one ends. Returns when there is none, or when it
 * does not start.
 */
export async function runWithOwnNode() {
  const program = ownNode()
  if (program === undefined) return
  for (const signal of forwarded) process.on(signal, forward)
  const child = spawn(program, [...process.execArgv, ...process.argv.slice(1)], {
    env: { ...process.env, [marker]: '1' },
    stdio: 'inherit',
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
    child.kill(signal)
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
    setTimeout(() => process.exit(128 + constants.signals[signal]), echoMs) // a signal that does not end this process
  }
}

/**
 * Ignores the second of two equal signals in short succession. A terminal and systemd send a signal to both processes, and the first
 * process forwards its own.
 */
export function ignoreEchoes() {
  /** @type {import('node:events').EventEmitter} */
  const events = process
  const emit = events.emit.bind(events)
  /** @type {Map<string, number>} */
  const last = new Map()
  events.emit = (name, ...values) => {
    if (typeof name === 'string' && stopSignals.includes(name)) {
      const now = performance.now()
      if (now - (last.get(name) ?? -Infinity) < echoMs) return true
      last.set(name, now)
    }
    return emit(name, ...values)
  }
}

function ownNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`)
  } catch {
    return undefined // such as on a system that has no such package
  }
}
