/** Reads the arguments of `npm test` and chooses the test modules of a run. */
import { relative, resolve } from 'node:path'
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { areaOf, areaStates, type AreaState, type ModuleFacts } from './areas.ts'
import { RunError } from './exit.ts'
import { importsOfModules, lanes, lanesOf, type TestLane } from './lanes.ts'

/** The arguments of `npm test`. */
export interface Arguments {
  readonly isFull: boolean
  readonly isLogged: boolean
  readonly lane: TestLane | undefined
  /** Paths of test modules; all modules when empty. */
  readonly files: readonly string[]
}

export interface Choice {
  /** Every test module of the project. */
  readonly modules: readonly ModuleFacts[]
  readonly states: readonly AreaState[]
  /** The modules that run. */
  readonly selected: readonly ModuleFacts[]
}

/** Parses arguments. Throws a `RunError` that ends with `usage`. */
export function readArguments<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  usage: string,
): ReturnType<typeof parseArgs<{ args: string[]; options: Options; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new RunError(`${(error as Error).message}\n${usage}`)
  }
}

const usage = `Usage: npm test -- [--full] [--log], npm test -- --lane ${lanes.join('|')} [--full], npm test -- FILE…`

export function readRunArguments(args: readonly string[]): Arguments {
  const options = { full: { type: 'boolean' }, log: { type: 'boolean' }, lane: { type: 'string' } } as const
  const { values, positionals: files } = readArguments(args, options, usage)
  const { full: isFull = false, log: isLogged = false } = values
  const lane = readLane(values.lane)
  if (files.length > 0 && (isFull || lane !== undefined)) throw new RunError(`Paths cannot be combined with --full or --lane.\n${usage}`)
  if (isLogged && (files.length > 0 || lane !== undefined))
    throw new RunError(`--log records whole runs only: leave out paths and --lane.\n${usage}`)
  return { isFull, isLogged, lane, files }
}

/** Returns the lane, or undefined without a name. Throws a `RunError` for unknown names. */
export function readLane(name: string | undefined): TestLane | undefined {
  const lane = lanes.find((one) => one === name)
  if (name !== undefined && lane === undefined) throw new RunError(`There is no lane "${name}". The lanes are ${lanes.join(', ')}.`)
  return lane
}

/** Throws a `RunError` if a path is not a test module or no module is selected. */
export function chooseModules(root: string, { isFull, lane, files }: Pick<Arguments, 'isFull' | 'lane' | 'files'>): Choice {
  const imports = importsOfModules(root)
  const laneOf = lanesOf(imports)
  const modules = [...imports].map(([path, own]) => ({ path, imports: own, lane: laneOf.get(path) ?? 'exact' }) satisfies ModuleFacts)
  const states = areaStates(root, modules, isFull)
  const paths = new Set(files.map((file) => relative(root, resolve(root, file))))
  for (const path of paths)
    if (!imports.has(path)) throw new RunError(`There is no test module ${path}. Give paths of files test/**/*.test.ts.`)
  const resting = new Set(states.filter(({ runs }) => !runs).map(({ name }) => name))
  const isDue = (module: ModuleFacts): boolean => {
    if (paths.size > 0) return paths.has(module.path)
    const area = areaOf(module)
    const runs = area === undefined || (lane !== undefined && !isFull ? area !== 'nightly' : !resting.has(area))
    return runs && (lane === undefined || module.lane === lane)
  }
  const selected = modules.filter(isDue)
  if (selected.length === 0) throw new RunError('No test module is selected.')
  return { modules, states, selected }
}
