/** `npm run prose:commits`: checks the subjects of all commits after a base. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { subjectFault } from './subjects.ts'

/** Older subjects stay as they are. */
const base = '8fc3d100'
const root = join(fileURLToPath(import.meta.url), '../../../..')

const { status, stdout } = spawnSync('git', ['-c', 'safe.directory=*', 'log', '--no-merges', '--format=%h %s', `${base}..HEAD`], {
  cwd: root,
  encoding: 'utf8',
})
if (status === 0) {
  const faults = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ line, fault: subjectFault(line.slice(line.indexOf(' ') + 1)) }))
    .filter(({ fault }) => fault !== undefined)
  for (const { line, fault } of faults) console.error(`${line}\n  ${fault ?? ''}`)
  process.exitCode = faults.length === 0 ? 0 : 1
} else console.log(`Subjects of commits are not checked: this checkout has no commit ${base}.`)
