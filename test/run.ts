/**
 * `npm test`: installs missing peers, builds bundles for browsers and daemons, and runs test modules lane by lane in shared processes.
 * `--full` adds the nightly areas, `--lane NAME` runs one lane, and paths run single modules. `--log` adds a line to suite/runs.tsv. With
 * `CI=true` a missing peer is an error; otherwise its tests are skipped.
 */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtVariable } from './support/web/built.ts'
import { installPackages, whyNotInstallable } from './support/peers/install-packages.ts'
import { missingPackages } from './support/peers/peer-packages.ts'
import { areaStates, writeProven } from './suite/areas.ts'
import { buildAll } from './suite/run/builds.ts'
import { chooseModules, type Words } from './suite/choice.ts'
import { readUnstable } from './suite/run/gate.ts'
import { lanes } from './suite/lanes.ts'
import { Progress } from './suite/run/progress.ts'
import { areasLines, closingLines, logRun, writeTitles } from './suite/run/report.ts'
import { runLanes } from './suite/run/run-lanes.ts'
import { startServices } from './suite/run/shared-servers.ts'
import { runnerPorts, ShardWriter } from './suite/run/shards.ts'

const root = join(fileURLToPath(import.meta.url), '../..')
const progressMs = 30_000
const isCi = process.env['CI'] === 'true'

function words(given: readonly string[]): Words {
  const lane = given.includes('--lane') ? given[given.indexOf('--lane') + 1] : undefined
  if (given.includes('--lane') && !lanes.some((name) => name === lane)) throw new Error(`--lane takes one of ${lanes.join(', ')}`)
  const files = given.filter((word) => !word.startsWith('--') && word !== lane)
  const unknown = given.filter((word) => word.startsWith('--') && !['--full', '--lane', '--log'].includes(word))
  if (unknown.length > 0)
    throw new Error(`unknown: ${unknown.join(' ')}; npm test takes --full, --lane NAME, --log and paths of test modules`)
  return { isFull: given.includes('--full'), isLogged: given.includes('--log'), lane: lanes.find((name) => name === lane), files }
}

function prepare(): boolean {
  const before = missingPackages()
  if (before.length === 0) return true
  const reason = whyNotInstallable()
  if (reason === undefined) {
    console.log(`Installing what tests run against: ${before.join(' ')}`)
    installPackages(before)
  }
  const missing = missingPackages()
  if (missing.length === 0) return true
  const packages = missing.join(' ')
  if (isCi) {
    console.error(`These packages are missing and could not be installed (${reason ?? 'apt-get failed'}): ${packages}`)
    return false
  }
  console.log(`Not installed${reason === undefined ? '' : `, as ${reason}`}: ${packages}`)
  console.log('Tests against them are skipped. To run all: sudo apt-get install --no-install-recommends ' + packages)
  return true
}

async function run(given: Words): Promise<number> {
  const { modules, chosen } = chooseModules(root, given)
  const states = areaStates(root, modules, given.isFull)
  const selected = chosen(states)
  if (given.files.length === 0 && given.lane === undefined) for (const line of areasLines(states)) console.log(line)
  await buildAll()
  const progress = new Progress((text) => process.stdout.write(text))
  const timer = setInterval(() => progress.report(), progressMs)
  const writer = new ShardWriter(root)
  process.env['POSTERN_TEST_PORTS'] = runnerPorts
  await using services = await startServices()
  const surroundings = { root, writer, progress, unstable: readUnstable(root), environment: { [builtVariable]: '1', ...services.env } }
  const result = await runLanes(surroundings, selected, availableParallelism())
  clearInterval(timer)
  writeTitles(root, result)
  for (const line of closingLines(result, modules, progress.skipped, isCi)) console.log(line)
  if (given.isLogged) logRun(root, result)
  if (result.failures.length > 0) return 1
  if (given.files.length === 0 && given.lane === undefined)
    writeProven(
      root,
      states.filter(({ runs }) => runs),
    )
  return 0
}

process.exitCode = prepare() ? await run(words(process.argv.slice(2))) : 1
