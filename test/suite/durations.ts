/** `npm run test:durations`: stores the processor time of each module in the last run of `npm test`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { costsPath } from './run/report.ts'
import { durationsPath, readDurations, type Durations } from './run/shards.ts'

const root = join(fileURLToPath(import.meta.url), '../../..')
const costs = JSON.parse(readFileSync(join(root, costsPath), 'utf8')) as Durations
const known = Object.entries({ ...readDurations(root), ...costs }).filter(([path]) => existsSync(join(root, path)))
const sorted = Object.fromEntries(known.toSorted(([one], [other]) => one.localeCompare(other)))
writeFileSync(join(root, durationsPath), `${JSON.stringify(sorted, undefined, 2)}\n`)
