/** `node test/on-postgresql.ts COMMAND…`: runs tests whose daemons keep everything in a PostgreSQL that is started for them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { serverVariable } from './support/daemon/store-of-test.ts'
import { Postgresql } from './support/peers/postgresql.ts'

const [command = 'npx', ...words] = process.argv.slice(2)
await using postgresql = await Postgresql.start()
const env = { ...process.env, [serverVariable]: postgresql.address('').replace(/\/$/, '') }
const [code] = (await once(spawn(command, words, { stdio: 'inherit', env }), 'close')) as [number | null]
process.exitCode = code ?? 1
