/** The house rules that a machine can check, run over every file of the repository. The rules are tested in test/tidy/. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from '#test'
import budget from './tidy/prose/budget.json' with { type: 'json' }
import { filesOfLane, importsOfModules, lanesOf } from './suite/lanes.ts'
import { readUnstable, staleUnstable } from './suite/run/gate.ts'
import { decisions, deadLinks, goneFiles } from './tidy/documents.ts'
import { cutLists } from './tidy/cut-lists.ts'
import { fileCycles, nounCycles } from './tidy/cycles.ts'
import { importDirection } from './tidy/layers.ts'
import { moduleState } from './tidy/state/module-state.ts'
import { nameMaps } from './tidy/state/name-maps.ts'
import { packageHomes } from './tidy/packages.ts'
import { budgetFaults, passagesOf } from './tidy/prose/prose.ts'
import { longReadmes, readmes } from './tidy/readmes.ts'
import { fileLength, folderDepth, folderSize, functionLength, names } from './tidy/shape.ts'
import { realTime, unusedExceptions } from './tidy/state/real-time.ts'
import { readTree } from './tidy/source.ts'
import { waysOut } from './tidy/ways-out.ts'
import { citations, headers, leftovers, oddComments, replacedIdentifiers, replacedPhrases } from './tidy/text-rules.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const tree = readTree(root)
const { sources, documents, paths } = tree
const clean = (t: ExecutionContext, violations: readonly string[]): void => {
  t.is(violations.join('\n'), '')
}

test('readTree() finds the files of the repository', (t) => {
  t.true(sources.some(({ path }) => path === 'test/tidy.test.ts'))
})
test('imports go strictly downward, by alias across layers', (t) => clean(t, importDirection(sources)))
test('connections to other hosts are opened in one folder', (t) => clean(t, waysOut(sources)))
test('no import cycle between files', (t) => clean(t, fileCycles(sources)))
test('no import cycle between the nouns of the core', (t) => clean(t, nounCycles(sources)))
test('every third-party package is imported in its home only', (t) => clean(t, packageHomes(sources)))
test('objects that are read by computed names have no prototype', (t) => clean(t, nameMaps(sources)))
test('modules have no state', (t) => clean(t, moduleState(sources)))
test('exact modules use no real time', (t) => {
  const exact = filesOfLane(importsOfModules(root), 'exact')
  clean(t, [...realTime(sources, exact), ...unusedExceptions(sources, exact)])
})
test('unstable tests are listed for at most 14 days', (t) => clean(t, staleUnstable(readUnstable(root), Date.now())))
test('lanes of the test modules', (t) => {
  const lanes = [...lanesOf(importsOfModules(root)).values()]
  t.log([...new Set(lanes)].map((lane) => `${lane}: ${String(lanes.filter((one) => one === lane).length)}`).join(', '))
  t.true(lanes.length > 600)
})
test('files are short', (t) => clean(t, fileLength(sources)))
test('functions are short', (t) => clean(t, functionLength(sources)))
test('folders are shallow', (t) => clean(t, folderDepth(sources)))
test('folders are small', (t) => clean(t, folderSize(sources)))
test('files and folders are named for what they hold', (t) => clean(t, names(sources)))
test('screens of the dashboard set no page size', (t) => clean(t, cutLists(sources)))
test('nothing is marked as unfinished', (t) => clean(t, leftovers(sources)))
test('every source file starts with a comment that describes it', (t) => clean(t, headers(sources)))
test('RFC citations have one form', (t) => clean(t, citations(sources, documents)))
test('phrases that were replaced do not come back', (t) => clean(t, replacedPhrases(sources, documents)))
test('identifiers that were replaced do not come back', (t) => clean(t, replacedIdentifiers(sources)))
test('comments are of one width and say who or what is missing', (t) => clean(t, oddComments(sources)))
test('every layer has a README.md that names its files', (t) => clean(t, readmes(tree)))
test('a README.md fits on one screen', (t) => clean(t, longReadmes(documents)))
test('every decision is a page of its layer, linked from an index', (t) => clean(t, decisions(documents)))
test('every file that a document names is there', (t) => clean(t, goneFiles(documents, paths)))
test('every relative link of a document leads somewhere', (t) => clean(t, deadLinks(documents, paths)))
test('sentences keep to the budget of constructions that are hard to read', (t) =>
  clean(
    t,
    budgetFaults(
      passagesOf(tree, (path) => JSON.parse(readFileSync(join(root, path), 'utf8')) as unknown),
      budget,
    ),
  ))
