/** `postern capture`: an instance for mail tests that runs until it is stopped, or until its test command ends. */
import { readFile, writeFile } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { createInterface } from 'node:readline/promises'
import { Readable } from 'node:stream'
import type { CaptureArguments } from '../command-line.ts'
import type { Decision } from '../../observability/decisions.ts'
import { cleanText } from '../../observability/clean-text.ts'
import { createLogger } from '../../observability/logging.ts'
import { exitCodes, Lifecycle } from '../../process/lifecycle.ts'
import { StartRefused } from '../../process/start-refused.ts'
import { tailLine } from '../tail-command.ts'
import { awaitVerdicts } from './caught-mail.ts'
import { ExpectationUnclear, readExpectation, readExpectations, type Expectation, type Verdict } from './expectations.ts'
import { startInstance, type Instance } from './instance.ts'
import { junitXml } from './junit.ts'
import { makeRunFolder, removeLeftFolders, removeRunFolder } from './run-folder.ts'
import { runTestCommand, type RunningCommand } from './test-command.ts'

interface Surroundings {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  readonly version: string
}

const stopSeconds = 5
/** Most different refusals in the report. */
const maxRefusals = 20
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs until a signal or until the test command ends. Returns the exit code of the command, or 1 if an expectation is not met. Throws
 * `StartRefused` if an expectation is invalid or the instance cannot start.
 */
export async function capture(args: CaptureArguments, surroundings: Surroundings): Promise<number> {
  const expectations = await expectationsOf(args)
  const stop = new Stop()
  const startedAt = new Date()
  const begun = performance.now()
  await removeLeftFolders()
  const folder = await makeRunFolder()
  const log = createLogger(args.isVerbose ? 'info' : 'error', 'stderr')
  const lifecycle = new Lifecycle(log, stopSeconds)
  try {
    const { smtpPort, httpPort, suppresses } = args
    const { version } = surroundings
    const instance = await startInstance({ folder, smtpPort, httpPort, suppresses, version }, log, lifecycle)
    const refusals = new Refusals()
    void watchDecisions(instance, args, surroundings, refusals)
    const code = await use(instance, args, surroundings, stop)
    const wait = { waitMs: args.waitSeconds * 1000, signal: stop.again }
    const verdicts = expectations.length > 0 ? await awaitVerdicts(instance, expectations, wait) : []
    if (args.junitFile !== undefined) {
      const seconds = (performance.now() - begun) / 1000
      await writeFile(args.junitFile, junitXml({ verdicts, startedAt, seconds }))
    }
    const isMet = report(verdicts, refusals, surroundings)
    return code === 0 && !isMet ? exitCodes.failed : code
  } finally {
    await lifecycle.stop()
    await removeRunFolder(folder)
    stop.forget()
  }
}

async function expectationsOf({ expectations, expectationFile }: CaptureArguments): Promise<readonly Expectation[]> {
  try {
    const written = expectationFile === undefined ? [] : readExpectations(await readFile(expectationFile, 'utf8'))
    return [...expectations.map(readExpectation), ...written]
  } catch (error) {
    if (error instanceof ExpectationUnclear) throw new StartRefused(error.message, exitCodes.usage, { cause: error })
    throw error
  }
}

/** Prints how to reach the instance. Resolves with the exit code when the test command ends or a signal arrives. */
async function use(instance: Instance, { asJson, command }: CaptureArguments, surroundings: Surroundings, stop: Stop): Promise<number> {
  const { stdout, stderr } = surroundings
  if (asJson) stdout.write(`${JSON.stringify(instance.access)}\n`)
  if (command.length > 0 && !stop.first.aborted) {
    const running = runTestCommand(command, instance.access, (sentence) => void stderr.write(`${sentence}\n`))
    stop.passOnTo(running)
    return running.ended
  }
  if (!asJson) stdout.write(welcome(instance))
  await stop.wanted
  return exitCodes.ok
}

function welcome({ access: { smtp, http, api_key, inbox_id }, dashboard }: Instance): string {
  const rows = [
    ['SMTP', `${smtp.host}:${smtp.port}`],
    ['user name', smtp.username],
    ['password', smtp.password],
    ['HTTP', http],
    ['API key', api_key],
    ['inbox', inbox_id],
    ...(dashboard === undefined ? [] : [['dashboard', dashboard]]),
  ]
  const lines = rows.map(([name = '', value = '']) => `  ${name.padEnd(11)}${value}`)
  return `All mail is captured and stays on this machine. Ctrl-C stops the instance and deletes its data.\n\n${lines.join('\n')}\n\n`
}

/** Collects refusals until the end of the run. Prints all decisions if no test command uses the terminal. */
async function watchDecisions(
  { part }: Instance,
  { asJson, command }: CaptureArguments,
  { stdout }: Surroundings,
  refusals: Refusals,
): Promise<void> {
  for await (const line of createInterface({ input: Readable.fromWeb(part('decisions').watch()) })) {
    if (line === '') continue
    const decision = JSON.parse(line) as Decision
    if (decision.kind === 'refused') refusals.note(decision)
    if (!asJson && command.length === 0) stdout.write(`${tailLine(decision)}\n`)
  }
}

/** Refusals of a run, each with its count. */
class Refusals {
  readonly #counts = new Map<string, number>()

  note({ code, reason, door }: Decision): void {
    const text = cleanText([door, code, reason].filter((one) => one !== undefined && one !== '').join(' '))
    if (this.#counts.has(text) || this.#counts.size < maxRefusals) this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1)
  }

  /** Returns an empty text if there were no refusals. */
  asText(): string {
    const lines = [...this.#counts].map(([text, count]) => `  ${text}${count > 1 ? ` (${String(count)} times)` : ''}\n`)
    return lines.length === 0 ? '' : `Refused during the run:\n${lines.join('')}`
  }
}

/** Returns true if all expectations are met. Otherwise prints the failed ones, and the refusals that may explain them. */
function report(verdicts: readonly Verdict[], refusals: Refusals, { stderr }: Surroundings): boolean {
  const failed = verdicts.filter(({ fault }) => fault !== undefined)
  for (const { name, fault = '' } of failed) stderr.write(`Not met: ${name}\n  ${fault.replaceAll('\n', '\n  ')}\n`)
  if (failed.length > 0) stderr.write(refusals.asText())
  return failed.length === 0
}

/** Handles signals: the first ends the run or is passed to the test command; the second also ends the wait for mail. */
class Stop {
  readonly #first = new AbortController()
  readonly #again = new AbortController()
  readonly #wanted = Promise.withResolvers<void>()
  #command: RunningCommand | undefined
  readonly #onSignal = (name: NodeJS.Signals): void => {
    if (this.#first.signal.aborted) this.#again.abort()
    this.#first.abort()
    this.#command?.signal(name)
    this.#wanted.resolve()
  }

  constructor() {
    for (const name of signals) process.on(name, this.#onSignal)
  }

  get first(): AbortSignal {
    return this.#first.signal
  }

  get again(): AbortSignal {
    return this.#again.signal
  }

  get wanted(): Promise<void> {
    return this.#wanted.promise
  }

  passOnTo(command: RunningCommand): void {
    this.#command = command
    void command.ended.then(() => (this.#command = undefined))
  }

  forget(): void {
    for (const name of signals) process.off(name, this.#onSignal)
  }
}
