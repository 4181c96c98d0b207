/** Which commit a package is made of. */
import type { MadeOf } from '#config/own-files.ts'
import { run } from './run-command.ts'

/** The commit that is checked out; sources that differ from it are said to. */
export function madeOf(): MadeOf {
  const isChanged = run('git', 'status', '--porcelain', '--untracked-files=no') !== ''
  const [commit = '', seconds = '0'] = run('git', 'log', '-1', '--format=%H %ct').split(' ')
  return { commit: `${commit.slice(0, 12)}${isChanged ? '-changed' : ''}`, committedAt: new Date(Number(seconds) * 1000).toISOString() }
}

/** Whether the commit has the tag of the version. */
export const isRelease = (version: string): boolean => run('git', 'tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`)
