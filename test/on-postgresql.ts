/**
 * `node test/on-postgresql.ts`: all flows, crashes and the isolation of tenants once more, with daemons that keep everything in a
 * PostgreSQL which is started for them. With a command, `node test/on-postgresql.ts COMMAND…`, that is run in their place.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { serverVariable } from './support/daemon/store-of-test.ts'
import { Postgresql } from './support/peers/postgresql.ts'

/** What is said of a daemon from outside, whatever its store is. */
const patterns = [
  ...['test/flows/**/*.test.ts', 'test/crash/*.test.ts', 'test/admin-api/**/isolation.test.ts'],
  'test/core/administration/removals.test.ts', // a deletion is carried out by whoever holds it
  // money and websites: what writers that meet decide again
  ...['test/crash/{billing,sites}/*.test.ts', 'test/core/{billing,sites}/*.test.ts', 'test/admin-api/sites/*.test.ts'],
]
/**
 * These look at the embedded store itself: at its files, at the octets that it copies and the rows that it writes (daemons that share a
 * store keep a row more for each capture, and ask for suppressions each time), or at a disk that is full below it.
 */
const embedded = [
  'test/flows/delivery/large-content.test.ts',
  'test/flows/delivery/written-rows.test.ts',
  'test/crash/fsync.test.ts',
  'test/crash/full-disk.test.ts',
  'test/crash/upgrades.test.ts',
]

function wholeSet(): readonly string[] {
  const missing = embedded.filter((file) => globSync(file).length === 0)
  if (missing.length > 0) throw new Error(`these are left out of the set, and are not there: ${missing.join(', ')}`)
  const files = globSync(patterns).filter((file) => !embedded.includes(file))
  return [process.execPath, 'test/run.ts', ...files.toSorted()]
}

const given = process.argv.slice(2)
const [command = process.execPath, ...args] = given.length > 0 ? given : wholeSet()
await using postgresql = await Postgresql.start()
const env = { ...process.env, [serverVariable]: postgresql.address('').replace(/\/$/, ''), POSTERN_TEST_SECONDS: '240' }
const [code] = (await once(spawn(command, args, { stdio: 'inherit', env }), 'close')) as [number | null]
process.exitCode = code ?? 1
