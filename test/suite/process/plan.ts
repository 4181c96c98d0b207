/** The plan of a test process, and the names of tests. */

/** The plan of one process, which its file hands over. */
export interface ShardPlan {
  /** Paths of the modules, relative to the repository. */
  readonly modules: readonly string[]
  /** The journal that the runner reads. */
  readonly journal: string
  /** The folder for temporary files of the process, which the runner removes. */
  readonly temporary: string
  /** Seconds that a test may take. */
  readonly seconds: number
  /** The first and last port for programs that cannot choose one. */
  readonly ports: string
  /** The only tests that run, by their titles within the module; all when left out. */
  readonly titles?: readonly string[]
}

export interface Test {
  readonly module: string
  /** The title within the module; empty when the module as a whole failed. */
  readonly title: string
}

/** Returns the module's name in titles: `core/delivery/queue` for `test/core/delivery/queue.test.ts`. */
export const titleOf = (path: string): string => path.replace(/^test\//, '').replace(/\.test\.ts$/, '')

/** A test as people read it. */
export const nameOf = ({ module, title }: Test): string => (title === '' ? titleOf(module) : `${titleOf(module)} › ${title}`)
