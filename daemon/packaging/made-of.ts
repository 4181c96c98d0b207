/** Determines the commit of a package. */
import type { MadeOf } from '#config/own-files.ts'
import { run } from './run-command.ts'

/** Returns the current commit, marked if the sources differ from it. */
export function madeOf(): MadeOf {
  const isChanged = run('git', 'status', '--porcelain', '--untracked-files=no') !== ''
  const [commit = '', seconds = '0'] = run('git', 'log', '-1', '--format=%H %ct').split(' ')
  return { commit: `${commit.slice(0, 12)}${isChanged ? '-changed' : ''}`, committedAt: new Date(Number(seconds) * 1000).toISOString() }
}

/** Whether the commit has the tag of the version. */
export const isRelease = (version: string): boolean => run('git', 'tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`)
