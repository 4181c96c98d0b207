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
import { chooseModules, readRunArguments, type Choice, type Arguments } from './suite/choice.ts'
import { exitWith, interruption } from './suite/exit.ts'
import { readUnstable } from './suite/run/gate.ts'
import { claimCheckout } from './suite/run/only-run.ts'
import { Progress } from './suite/run/progress.ts'
import { areasLines, closingLines, logRun, writeTitles } from './suite/run/report.ts'
import { runLanes } from './suite/run/run-lanes.ts'
import { startServices } from './suite/run/shared-servers.ts'
import { ShardWriter } from './suite/run/shards.ts'

const root = join(fileURLToPath(import.meta.url), '../..')
const progressMs = 30_000
const isCi = process.env['CI'] === 'true'

/** Installs missing peers where it can. Returns false if CI lacks a peer. */
function installPeers(): boolean {
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

async function run(given: Arguments, { modules, states, selected }: Choice): Promise<number> {
  using _ = claimCheckout(root)
  const interrupted = interruption()
  const isWhole = given.files.length === 0 && given.lane === undefined
  if (isWhole) for (const line of areasLines(states)) console.log(line)
  await buildAll()
  const progress = new Progress((text) => process.stdout.write(text))
  const timer = setInterval(() => progress.report(), progressMs).unref()
  const writer = new ShardWriter(root)
  await using services = await startServices()
  const environment = { [builtVariable]: '1', ...services.env }
  const surroundings = { root, writer, progress, unstable: readUnstable(root), environment, interrupted }
  const result = await runLanes(surroundings, selected, availableParallelism())
  clearInterval(timer)
  writeTitles(root, result)
  const failed = result.failures.length + (isCi ? result.skipped.length : 0)
  for (const line of closingLines(result, modules, failed)) console.log(line)
  if (given.isLogged) logRun(root, result)
  if (isWhole && failed + result.skipped.length === 0) writeProven(root, states, areaStates(root, modules, given.isFull))
  return failed === 0 ? 0 : 1
}

async function main(): Promise<number> {
  const given = readRunArguments(process.argv.slice(2))
  const choice = chooseModules(root, given)
  return installPeers() ? run(given, choice) : 1
}

await exitWith(main)
