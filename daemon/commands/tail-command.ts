/** `postern tail`: prints the decisions of the running daemon as they happen. */
import { createInterface } from 'node:readline/promises'
import { Readable } from 'node:stream'
import type { Config } from '#config/settings/load.ts'
import { decisionsPath } from '../../admin-api/operator/operator-decisions.ts'
import { cleanJson, cleanText } from '../observability/clean-text.ts'
import { callDaemon, localDaemon } from './daemon-client.ts'
import type { Decision } from '../observability/decisions.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'
import { StartRefused } from '../process/start-refused.ts'

interface Writer {
  write(text: string): unknown
}

/** Runs until the daemon stops or the output closes. Throws `StartRefused` if no daemon runs. */
export async function tail(
  config: Config,
  { asJson, out, hints }: { readonly asJson: boolean; readonly out: Writer; readonly hints: Writer },
): Promise<ExitCode> {
  const daemon = await localDaemon(config)
  const { body } = await callDaemon(daemon, 'GET', decisionsPath)
  if (!body) return exitCodes.failed
  hints.write(`Watching the daemon at ${daemon.origin}. Press Ctrl-C to stop.\n`)
  const lines = Readable.fromWeb(body)
  const broken = new Promise<never>((_, reject) => lines.once('error', reject))
  broken.catch(() => undefined) // it may break while no call waits for it
  try {
    await Promise.race([show(lines, asJson, out), broken])
  } catch (error) {
    throw new StartRefused(`The connection to the daemon at ${daemon.origin} was lost.`, exitCodes.failed, { cause: error })
  }
  return exitCodes.ok
}

async function show(lines: Readable, asJson: boolean, out: Writer): Promise<void> {
  for await (const line of createInterface({ input: lines })) {
    if (line !== '') out.write(asJson ? `${cleanJson(line)}\n` : `${tailLine(JSON.parse(line) as Decision)}\n`)
  }
}

/** Formats a decision for people: time, kind, the most important facts, then the others as name=value. */
export function tailLine({ at, kind, ...facts }: Decision): string {
  const isPlain = facts['outcome'] === 'relayed' // for relayed mail the reason adds nothing
  const rest = Object.entries(facts).filter(
    ([name, value]) => value !== undefined && value !== null && value !== '' && !(isPlain && name === 'reason'),
  )
  const shown = rest.map(([name, value]) => {
    if (name === 'outcome') return text(value).padEnd(outcomeWidth)
    return leading.has(name) ? text(value) : `${name}=${text(value)}`
  })
  return [String(at).slice(11, 23), kind.padEnd(11), ...shown].join(' ')
}

/** Length of `captured.sandbox_destination`. */
const outcomeWidth = 28

/** Facts that are shown without their name. */
const leading: ReadonlySet<string> = new Set(['outcome', 'status', 'code', 'breaker', 'reason', 'envelope'])
const text = (value: unknown): string => cleanText(typeof value === 'object' ? JSON.stringify(value) : value)
