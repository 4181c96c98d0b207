/**
 * The `test` function of every test module, with the types of AVA. In a process of one module it is AVA's own. In a shared process it
 * collects the declarations of each module, and `shard()` declares them to AVA.
 */
import ava, { type ExecutionContext, type TestFn } from 'ava'

export type { ExecutionContext, SerialFn, TestFn } from 'ava'

/** A test or a hook as a module declares it. */
export interface Declaration {
  readonly kind: 'test' | 'before' | 'after'
  /** Empty for a hook without a title. */
  readonly title: string
  readonly skipped: boolean
  readonly failing: boolean
  readonly run: (t: ExecutionContext) => unknown
}

type Flags = Pick<Declaration, 'kind' | 'skipped' | 'failing'>
type Implementation = (t: ExecutionContext, ...args: readonly unknown[]) => unknown
interface Macro {
  readonly exec: Implementation
  readonly title?: (given: string | undefined, ...args: readonly unknown[]) => string
}

/** Declarations of the current import; undefined after the last import. */
let declarations: Declaration[] | undefined

/** Imports a module and returns its declarations in order. */
export async function declarationsOf(url: string): Promise<readonly Declaration[]> {
  const own: Declaration[] = (declarations = [])
  await import(url)
  return own
}

/** Refuses later declarations: AVA takes none after the first test has started. */
export function endDeclarations(): void {
  declarations = undefined
}

/** Normalizes a title as AVA does. */
const normalized = (title: string): string => title.trim().replaceAll(/\s+/g, ' ')

const declare =
  (flags: Flags) =>
  (...given: readonly unknown[]): void => {
    const title = typeof given[0] === 'string' ? given[0] : undefined
    const [what, ...args] = title === undefined ? given : given.slice(1)
    const { exec, title: titled }: Macro = typeof what === 'function' ? { exec: what as Implementation } : (what as Macro)
    const whole = normalized(titled?.(title, ...args) ?? title ?? '')
    if (flags.kind === 'test' && whole === '') throw new TypeError('A test needs a title.')
    if (!declarations) throw new Error(`"${whole}" was declared after its module was imported.`)
    declarations.push({ ...flags, title: whole, run: (t) => exec(t, ...args) })
  }

/** Supports the part of AVA's interface that modules may use. `serial` has no effect: tests of a process run one at a time. */
function collecting(): TestFn {
  const kind = (flags: Flags): object => {
    const skip = declare({ ...flags, skipped: true })
    return Object.assign(declare(flags), { skip, always: Object.assign(declare(flags), { skip }) })
  }
  const plain: Flags = { kind: 'test', skipped: false, failing: false }
  const failing = kind({ ...plain, failing: true })
  const hooks = { before: kind({ ...plain, kind: 'before' }), after: kind({ ...plain, kind: 'after' }) }
  const serial = Object.assign(kind(plain), { failing, ...hooks })
  return Object.assign(kind(plain), { failing, serial, ...hooks, macro: ava.macro, meta: ava.meta }) as unknown as TestFn
}

/** Whether the running file is a shard, as `ShardWriter` writes it. */
const isShard = /\/build\/[^/]+\/[^/]+\.test\.ts$/.test(ava.meta.file)

export default isShard ? collecting() : ava
