/**
 * `npm test`: gets the peers that are missing where it may, says what to expect, and runs AVA with a line of progress now and then.
 * Words after `npm test --` go to AVA. With `CI=true` a missing peer is an error instead of a skipped test.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDashboard } from '../admin-api/dashboard/build.ts'
import { buildDocs } from '../admin-api/docs-site/build.ts'
import { buildFormScripts } from '../admin-api/pages/forms/scripts/build.ts'
import { installPackages, whyNotInstallable } from './support/peers/install-packages.ts'
import { missingPackages } from './support/peers/peer-packages.ts'
import { Progress } from './support/progress.ts'
import { builtVariable } from './support/web/built.ts'

const root = join(fileURLToPath(import.meta.url), '../..')
const words = process.argv.slice(2)
const isCi = process.env['CI'] === 'true'
const isWhole = words.every((word) => word.startsWith('-'))
const progressMs = 30_000

/** One file more than there are processors: there is always one that waits for a peer, a timer or the disk. */
const atOnce = words.some((word) => /^(?:-[cs]|--concurrency|--serial)/.test(word))
  ? []
  : [`--concurrency=${String(availableParallelism() + 1)}`]

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

async function run(): Promise<number> {
  await Promise.all([buildDashboard(), buildDocs(), buildFormScripts()])
  const ava = join(root, 'node_modules/.bin/ava')
  const colors = process.stdout.isTTY && process.env['NO_COLOR'] === undefined ? { FORCE_COLOR: '1' } : {}
  const child = spawn(process.execPath, [ava, ...atOnce, ...words], {
    cwd: root,
    env: { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/postern'), ...process.env, ...colors, [builtVariable]: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const progress = new Progress((text) => process.stdout.write(text))
  child.stdout.on('data', (text: Buffer) => progress.read(text))
  const timer = setInterval(() => progress.report(), progressMs)
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal)
  process.on('SIGINT', passOn).on('SIGTERM', passOn)
  const { promise, resolve } = Promise.withResolvers<number>()
  child.on('error', (error) => {
    console.error(error.message)
    resolve(1)
  })
  child.on('close', (code) => resolve(code ?? 1))
  const code = await promise
  clearInterval(timer)
  progress.end()
  return code
}

if (prepare()) {
  if (isWhole)
    console.log(`About 5,500 tests, which take about 25 minutes on two processors (this machine has ${String(availableParallelism())}).\n`)
  process.exitCode = await run()
} else process.exitCode = 1
