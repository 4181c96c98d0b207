/** The plan of a test process, and the names of tests. */

/** Plan of one process, which its file passes to `shard()`. */
export interface ShardPlan {
  /** Paths of the modules, relative to the repository. */
  readonly modules: readonly string[]
  /** The journal that the runner reads. */
  readonly journal: string
  /** Folder for temporary files of the process; the runner removes it. */
  readonly temporary: string
  /** Seconds that a test may take. */
  readonly seconds: number
  /** The only tests that run, by their titles within the module; all when left out. */
  readonly titles?: readonly string[]
}

export interface Test {
  readonly module: string
  /** The title within the module; empty if the whole module failed. */
  readonly title: string
}

/** Returns the module's name in titles: `core/delivery/queue` for `test/core/delivery/queue.test.ts`. */
export const titleOf = (path: string): string => path.replace(/^test\//, '').replace(/\.test\.ts$/, '')

/** Whether the error reports lost or doubled mail, data of another tenant, or a problem that `verify` found. */
export const isLedger = (error: string): boolean => /^(?:.*: )?ledger: /.test(error)

/** A test as people read it. */
export const nameOf = ({ module, title }: Test): string => (title === '' ? titleOf(module) : `${titleOf(module)} › ${title}`)
