/**
 * Runs the modules of a shard in this process, one test at a time. Each test has one deadline, and guards check it. The journal of the
 * shard records the start and the end of each test.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import ava, { registerCompletionHandler, type ExecutionContext } from 'ava'
import { leftSince, Rejections, snapshot, type Snapshot } from './guards.ts'
import { Journal, processorMs } from './journal.ts'
import { endWaits } from '../../support/waits.ts'
import { isLedger, titleOf, type ShardPlan } from './plan.ts'
import { declarationsOf, endDeclarations, type Declaration } from './shared-test.ts'
import { closeShared, renewShared, sharedCount } from './shared-resources.ts'
import { Deadline } from './test-deadline.ts'

interface Module {
  readonly path: string
  readonly before: readonly Declaration[]
  readonly after: readonly Declaration[]
  readonly tests: readonly Declaration[]
}

/** Imports all modules and declares their tests to AVA, which runs them in this order. */
export async function shard(plan: ShardPlan, root: string): Promise<void> {
  process.once('disconnect', () => process.exit(1)) // AVA has died
  mkdirSync(plan.temporary, { mode: 0o755, recursive: true })
  process.env['TMPDIR'] = plan.temporary
  const journal = new Journal(join(root, plan.journal))
  const rejections = new Rejections()
  const modules: Module[] = []
  for (const path of plan.modules) {
    journal.write({ module: path, title: '', event: 'loading' })
    try {
      modules.push(await load(path, root, plan))
    } catch (error) {
      process.stderr.write(`${path} did not load: ${inspect(error)}\n`)
      journal.write({ module: path, title: '', event: 'failed', reason: `the module did not load: ${thrown(error)}` })
    }
  }
  let isOver = modules.length === 0
  process.on('exit', (code) => {
    if (isOver && code === 0 && !rejections.areOpen) journal.write({ module: '', title: '', event: 'ended' })
  })
  if (isOver) process.exit() // without a test, AVA never starts
  endDeclarations()
  for (const { path, tests } of modules)
    for (const { title, skipped } of tests) journal.write({ module: path, title, event: skipped ? 'skipped' : 'declared' })
  setInterval(() => {}, 2 ** 30) // Keeps the event loop alive: AVA fails waiting tests when the loop is empty.
  registerCompletionHandler(() => {
    isOver = true
    void closeShared().then(() => process.exit())
  })
  for (const module of modules) new Run(module, plan, journal, rejections).declare()
}

async function load(path: string, root: string, { seconds, titles }: ShardPlan): Promise<Module> {
  using deadline = new Deadline(seconds, 'the import')
  const all = await deadline.within(declarationsOf(pathToFileURL(join(root, path)).href))
  const of = (kind: Declaration['kind']): readonly Declaration[] =>
    all.filter((one) => one.kind === kind && (kind === 'test' || !one.skipped))
  const tests = of('test').filter(({ title }) => titles?.includes(title) ?? true)
  if (tests.length === 0) throw new Error('it declares no test')
  const twice = tests.find(({ title }, index) => tests.findIndex((other) => other.title === title) < index)
  if (twice) throw new Error(`two tests have the title "${twice.title}"`)
  return { path, tests, before: of('before'), after: of('after') }
}

/** State of the process before the hooks of a module, and the error of a failed hook. */
interface Begun {
  readonly state: Snapshot
  readonly failure?: Error
}

/** Runs one module of the shard. */
class Run {
  readonly #module: Module
  readonly #plan: ShardPlan
  readonly #journal: Journal
  readonly #rejections: Rejections
  readonly #last: Declaration | undefined
  #begun: Begun | undefined
  #context: unknown = {}
  /** Whether a test left something, so that the module is not blamed for it again. */
  #isBlamed = false

  constructor(module: Module, plan: ShardPlan, journal: Journal, rejections: Rejections) {
    this.#module = module
    this.#plan = plan
    this.#journal = journal
    this.#rejections = rejections
    this.#last = module.tests.findLast(({ skipped }) => !skipped)
  }

  declare(): void {
    const name = titleOf(this.#module.path)
    for (const one of this.#module.tests) {
      const title = `${name} › ${one.title}`
      if (one.skipped) ava.serial.skip(title, () => {})
      else (one.failing ? ava.serial.failing : ava.serial)(title, (t) => this.#test(t, one))
    }
  }

  async #test(t: ExecutionContext, one: Declaration): Promise<void> {
    const deadline = new Deadline(this.#plan.seconds)
    const began = { at: performance.now(), processor: processorMs() }
    const about = { module: this.#module.path, title: one.title }
    this.#journal.write({ ...about, event: 'begun' })
    const faults: string[] = []
    /** Whether an assertion failed before any other fault. AVA prints its message. */
    let asserted = false
    /** Number of faults that AVA knows, because the test threw them. */
    let known = 0
    const guard = new Guard(one, deadline, this.#rejections, this.#module.before.length > 0 ? isOfModule : () => false)
    t.teardown(async () => {
      known = faults.length
      try {
        await guard.end(faults)
        this.#isBlamed ||= faults.length > known
        if (one === this.#last) await this.#end(deadline, faults)
      } finally {
        deadline[Symbol.dispose]()
        const passed = t.passed !== one.failing && faults.length === known
        const spent = { ms: Math.round(performance.now() - began.at), processorMs: processorMs() - began.processor }
        const reason = faults.find(isLedger) ?? (asserted ? undefined : faults[0])
        this.#journal.write({ ...about, event: passed ? 'passed' : 'failed', ...spent, ...(reason !== undefined && { reason }) })
      }
      if (faults.length > known) throw new Error(faults.slice(known).join('\n'))
    })
    Object.defineProperty(t, 'title', { value: one.title })
    const { failure } = await this.#begin(t, deadline)
    if (failure) throw new Error(`a hook before the tests of ${this.#module.path} failed: ${failure.message}`, { cause: failure })
    t.context = typeof this.#context === 'object' ? { ...this.#context } : this.#context
    await renewShared()
    guard.begin()
    try {
      await deadline.within(one.run(t))
    } catch (error) {
      if (t.passed) faults.push(thrown(error)) // AVA does not know of it yet
      throw error
    } finally {
      asserted = !t.passed
    }
  }

  /** Runs the hooks that precede the first test. */
  async #begin(t: ExecutionContext, deadline: Deadline): Promise<Begun> {
    if (this.#begun) return this.#begun
    await renewShared()
    const [shared, before] = [sharedCount(), snapshot()]
    const failures: Error[] = []
    for (const hook of this.#module.before) {
      try {
        await deadline.within(hook.run(t))
      } catch (error) {
        failures.push(error instanceof Error ? error : new Error(String(error)))
        break
      }
    }
    this.#context = t.context
    const [failure] = failures
    const state = sharedCount() === shared ? before : snapshot() // shared resources that hooks started outlive the module
    this.#begun = failure ? { state, failure } : { state }
    return this.#begun
  }

  /** Runs the hooks after the last test, and checks for leftovers of the module. */
  async #end(deadline: Deadline, faults: string[]): Promise<void> {
    for (const hook of this.#module.after) {
      try {
        await deadline.within(hook.run({} as ExecutionContext))
      } catch (error) {
        faults.push(`a hook after the tests failed: ${String(error)}`)
      }
    }
    if (!this.#begun || this.#isBlamed) return
    const left = await leftSince(this.#begun.state, deadline.inSeconds(5))
    const all = [...left, ...this.#rejections.take()]
    if (all.length > 0) faults.push(`the module leaves ${all.join('; ')}`)
  }
}

/** Kinds that a test may leave if its module has hooks: a server of a hook can have connections during each test. */
const isOfModule = (kind: string): boolean => kind === 'TCPSocketWrap' || kind === 'PipeWrap'

/** Returns the message of an error; of the original error if a disposal failed too. */
function thrown(error: unknown): string {
  if (error instanceof SuppressedError) return thrown(error.suppressed)
  return error instanceof Error ? error.message : String(error)
}

/** Compares the process before and after one test. */
class Guard {
  readonly #test: Declaration
  readonly #deadline: Deadline
  readonly #rejections: Rejections
  readonly #ignores: (kind: string) => boolean
  #before: Snapshot | undefined

  constructor(test: Declaration, deadline: Deadline, rejections: Rejections, ignores: (kind: string) => boolean) {
    this.#test = test
    this.#deadline = deadline
    this.#rejections = rejections
    this.#ignores = ignores
  }

  begin(): void {
    this.#before = snapshot()
  }

  async end(faults: string[]): Promise<void> {
    if (!this.#before) return
    const left = await leftSince(this.#before, this.#deadline.inSeconds(5), this.#ignores)
    endWaits()
    const all = [...left, ...this.#rejections.take()]
    if (all.length > 0) faults.push(`"${this.#test.title}" leaves ${all.join('; ')}`)
  }
}
