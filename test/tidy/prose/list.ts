/** `npm run prose -- [FILE…]`: lists constructions that are hard to read, with a remedy for each, and the rate of each kind of text. */
import { readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readTree } from '../source.ts'
import { findingsIn, passagesOf, rateOf } from './prose.ts'

const root = join(fileURLToPath(import.meta.url), '../../../..')
const wanted = process.argv.slice(2).map((path) => relative(root, resolve(path)))
const isWanted = (path: string): boolean => wanted.length === 0 || wanted.some((each) => path === each || path.startsWith(`${each}/`))
const passages = passagesOf(readTree(root, isWanted), (path) => JSON.parse(readFileSync(join(root, path), 'utf8')) as unknown)

for (const [kind, found] of passages) {
  if (wanted.length > 0)
    for (const { path, line, words, instead } of found.flatMap(findingsIn)) console.log(`${path}:${String(line)} "${words}": ${instead}`)
  if (found.length > 0) console.log(`${kind}: ${String(rateOf(found))} constructions per 1,000 words`)
}
