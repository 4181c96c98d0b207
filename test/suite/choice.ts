/** Which test modules a run has. */
import { relative, resolve } from 'node:path'
import { areaOf, type AreaState, type ModuleFacts } from './areas.ts'
import { importsOfModules, lanesOf, type TestLane } from './lanes.ts'

/** The words after `npm test --`. */
export interface Words {
  readonly isFull: boolean
  readonly isLogged: boolean
  readonly lane: TestLane | undefined
  /** Paths of test modules. */
  readonly files: readonly string[]
}

export interface Choice {
  /** Every test module of the project. */
  readonly modules: readonly ModuleFacts[]
  /** Those that run, when areas are in these states. */
  readonly chosen: (states: readonly AreaState[]) => readonly ModuleFacts[]
}

/** Throws when a path is no test module. */
export function chooseModules(root: string, { isFull, lane, files }: Words): Choice {
  const imports = importsOfModules(root)
  const laneOf = lanesOf(imports)
  const modules = [...imports].map(([path, own]) => ({ path, imports: own, lane: laneOf.get(path) ?? 'exact' }) satisfies ModuleFacts)
  const paths = new Set(files.map((file) => relative(root, resolve(root, file))))
  for (const path of paths) if (!imports.has(path)) throw new Error(`${path} is no test module`)
  const chosen = (states: readonly AreaState[]): readonly ModuleFacts[] => {
    if (paths.size > 0) return modules.filter(({ path }) => paths.has(path))
    const resting = new Set(states.filter(({ runs }) => !runs).map(({ name }) => name))
    return modules.filter((module) => {
      const area = areaOf(module)
      const isDue = area === undefined || (lane !== undefined && !isFull ? area !== 'nightly' : !resting.has(area))
      return isDue && (lane === undefined || module.lane === lane)
    })
  }
  return { modules, chosen }
}
