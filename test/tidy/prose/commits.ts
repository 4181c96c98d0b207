/**
 * `npm run prose:commits`: checks the subjects of all commits after a base, and that no commit raised a budget of `budget.json`. A shallow
 * checkout without the base checks the commits that it has.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { raisedBudgets, type Budget } from './prose.ts'
import { subjectFault } from './subjects.ts'

/** Older subjects stay as they are. */
const subjectsBase = '8fc3d100'
/** Budgets fell to their goals before this commit. */
const budgetsBase = '94cbed56'
const budgetPath = 'test/tidy/prose/budget.json'
const root = join(fileURLToPath(import.meta.url), '../../../..')

/** Returns the output lines of a Git command; undefined if it failed. */
function git(...args: readonly string[]): readonly string[] | undefined {
  const { status, stdout } = spawnSync('git', ['-c', 'safe.directory=*', ...args], { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.split('\n').filter(Boolean) : undefined
}

const log = (range: string, ...paths: readonly string[]): readonly string[] | undefined =>
  git('log', '--no-merges', '--format=%h %s', range, '--', ...paths)

const isShallow = git('rev-parse', '--is-shallow-repository')?.[0] === 'true'
/** Returns the commits after the base, newest first; in a shallow checkout without the base, all that it has. */
const after = (base: string, ...paths: readonly string[]): readonly string[] | undefined =>
  log(`${base}..HEAD`, ...paths) ?? (isShallow ? log('HEAD', ...paths) : undefined)

function subjectFaults(): readonly string[] {
  const commits = after(subjectsBase)
  if (!commits) console.log(`Subjects of commits are not checked: this checkout has no commit ${subjectsBase}.`)
  return (commits ?? []).flatMap((line) => {
    const fault = subjectFault(line.slice(line.indexOf(' ') + 1))
    return fault === undefined ? [] : [`${line}\n  ${fault}`]
  })
}

const budgetAt = (commit: string): Budget | undefined => {
  const lines = git('show', `${commit}:${budgetPath}`)
  return lines && (JSON.parse(lines.join('\n')) as Budget)
}

function budgetFaults(): readonly string[] {
  return (after(budgetsBase, budgetPath) ?? []).flatMap((line) => {
    const commit = line.slice(0, line.indexOf(' '))
    const [before, now] = [budgetAt(`${commit}~1`), budgetAt(commit)]
    return before && now ? raisedBudgets(before, now).map((fault) => `${line}\n  ${fault}`) : []
  })
}

const faults = [...subjectFaults(), ...budgetFaults()]
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1
