/**
 * Areas of expensive tests. An area runs if its sources or tests changed since its last green run. `proven.json` stores the digest of
 * these files at that run. A digest needs no Git history and survives a rebase.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestLane } from './lanes.ts'

export type AreaName = 'front end' | 'database' | 'damage' | 'operations' | 'packaging' | 'nightly'

/** Facts about a test module. */
export interface ModuleFacts {
  readonly path: string
  readonly lane: TestLane
  /** Files that it imports, directly or through files of `test/`, and names of packages. */
  readonly imports: ReadonlySet<string>
}

interface Area {
  readonly name: AreaName
  readonly has: (module: ModuleFacts) => boolean
  /** Path prefixes of its sources; empty if it runs only with `--full`. */
  readonly sources: readonly string[]
}

const under = (...beginnings: readonly string[]) => {
  const has = (path: string): boolean => beginnings.some((beginning) => path.startsWith(beginning))
  return ({ path }: ModuleFacts): boolean => has(path)
}

const api = 'test/admin-api'
/** Sources of every area. */
const dependencies = ['package.json', 'package-lock.json']
/** Sign-in, a mail from the request to its capture, trace, queue, form designer, public form, settings, documentation. */
const smoke = new Set(
  ['account/sign-in', 'forms/hosted-pages']
    .map((name) => `${api}/pages/${name}.test.ts`)
    .concat(
      ['journeys/mail-journey', 'mail/captures', 'mail/trace', 'mail/queue', 'forms', 'settings'].map(
        (name) => `${api}/dashboard/${name}.test.ts`,
      ),
      [`${api}/docs-site/docs-pages.test.ts`],
    ),
)
const nightly = [
  ...['walks/', 'screens.', 'journeys/keyboard.', 'journeys/over-every-screen.'].map((name) => `${api}/dashboard/${name}`),
  ...['vendors/random-bodies.', 'mcp/walks/fuzz.'].map((name) => `${api}/${name}`),
  ...['test/bounds/walk.', 'test/core/templates/engine-fuzz.'],
]
const screens = under(...['dashboard', 'pages', 'docs-site'].map((name) => `${api}/${name}/`))
const tenants = under(`${api}/rest/every-operation/isolation.`, `${api}/mcp/walks/tenancy.`)
const walks = under(`${api}/rest/every-operation/`, `${api}/graphql/role-walk.`, `${api}/mcp/walks/`)

const damage = under(
  ...['backup.', 'backup/', 'damaged-store.'].map((name) => `test/daemon/commands/${name}`),
  ...['fsync.', 'full-disk.', 'upgrades.'].map((name) => `test/crash/${name}`),
)

/** A module belongs to the first area that matches. */
const areas: readonly Area[] = [
  { name: 'nightly', has: under(...nightly), sources: [] },
  {
    name: 'front end',
    has: (module) => module.lane === 'browser' && screens(module) && !smoke.has(module.path),
    sources: ['dashboard', 'pages', 'docs-site', 'wire', 'actions', 'http', 'oauth', 'operator'].map((name) => `admin-api/${name}/`),
  },
  {
    name: 'database',
    has: ({ imports }) => imports.has('test/support/peers/postgresql.ts'),
    sources: [
      ...['store/', 'daemon/composition/', 'daemon/start.ts', 'daemon/open-store.ts', 'config/settings/store-settings.ts'],
      // used by daemons that share a store
      ...['backup', 'certificates', 'doctor', 'process'].map((name) => `daemon/${name}/`),
    ],
  },
  {
    name: 'damage',
    has: damage,
    sources: ['store/', 'daemon/start.ts', 'daemon/open-store.ts', 'daemon/serve.ts'].concat(
      ['backup', 'commands', 'composition', 'doctor', 'process'].map((name) => `daemon/${name}/`),
    ),
  },
  {
    name: 'operations',
    has: (module) => walks(module) && !tenants(module),
    sources: ['admin-api/', ...['access', 'tenancy', 'administration', 'people', 'plan'].map((noun) => `daemon/core/${noun}/`)],
  },
  {
    name: 'packaging',
    has: under('test/daemon/packaging/', 'test/daemon/commands/setup.', 'test/peers/guides/', `${api}/docs-site/guides.`),
    sources: ['daemon/packaging/', 'daemon/commands/setup/', 'config/', 'admin-api/docs/guides/'],
  },
]

/** Returns the area of a module; undefined if the module always runs. */
export const areaOf = (module: ModuleFacts): AreaName | undefined => areas.find(({ has }) => has(module))?.name

/** Whether and why an area runs, and the digest of its files. An area without a digest always runs. */
export interface AreaState {
  readonly name: AreaName
  readonly runs: boolean
  readonly why: string
  readonly digest?: string
}

export const provenPath = 'test/suite/proven.json'

/** Returns the recorded digests. An unreadable file, such as one with merge conflicts, has none. */
function readProven(root: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(readFileSync(join(root, provenPath), 'utf8')) as object) }
  } catch {
    return {}
  }
}

/** Returns all files of the project, or undefined outside a Git checkout. */
function projectFiles(root: string): readonly string[] | undefined {
  try {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)))
  } catch {
    return undefined
  }
}

/** Decides which areas run. */
export function areaStates(root: string, modules: readonly ModuleFacts[], isFull: boolean): readonly AreaState[] {
  const files = projectFiles(root)
  const proven = readProven(root)
  return areas.map(({ name, sources }) => {
    if (sources.length === 0) return { name, runs: isFull, why: isFull ? '--full' : 'only with --full' }
    const own = modules.filter((module) => areaOf(module) === name)
    const digest = files && digestOf(root, files, [...sources, ...dependencies], own)
    if (isFull) return { name, runs: true, why: '--full', ...(digest !== undefined && { digest }) }
    if (digest === undefined) return { name, runs: true, why: 'there is no Git checkout to compare with' }
    const isProven = proven[name] === digest
    return {
      name,
      runs: !isProven,
      why: isProven ? 'no file changed since its last green run' : 'its files changed since its last green run',
      digest,
    }
  })
}

/** Output of runs, which does not depend on the code. */
const records = ['proven.json', 'runs.tsv', 'unstable.txt', 'durations.json'].map((name) => `test/suite/${name}`)

/** Hashes the sources, the imports of the modules, and other files in the folders of the modules, which tests may read. */
function digestOf(root: string, files: readonly string[], sources: readonly string[], own: readonly ModuleFacts[]): string {
  const hash = createHash('sha256')
  const imports = new Set(own.flatMap((module) => [...module.imports]))
  const folders = new Set(own.map(({ path }) => dirname(path)))
  const isRead = (path: string): boolean => !path.endsWith('.ts') && folders.has(dirname(path)) && !records.includes(path)
  const included = files
    .filter((path) => imports.has(path) || isRead(path) || sources.some((beginning) => path.startsWith(beginning)))
    .toSorted()
  for (const path of included)
    hash
      .update(path)
      .update('\0')
      .update(
        createHash('sha256')
          .update(readFileSync(join(root, path)))
          .digest(),
      )
  return hash.digest('hex')
}

/** Records the areas of a green run. Leaves out areas whose files changed during the run. */
export function writeProven(root: string, before: readonly AreaState[], after: readonly AreaState[]): void {
  const proven = { ...readProven(root) }
  for (const { name, runs, digest } of before)
    if (runs && digest !== undefined && after.some((now) => now.name === name && now.digest === digest)) proven[name] = digest
  const sorted = Object.fromEntries(Object.entries(proven).toSorted(([one], [other]) => one.localeCompare(other)))
  writeFileSync(join(root, provenPath), `${JSON.stringify(sorted, undefined, 2)}\n`)
}
