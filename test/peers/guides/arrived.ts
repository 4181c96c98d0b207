/** Mail of a guide's programs that a daemon captured. */
import type { Daemon } from '../../support/daemon/daemon.ts'
import { catchAllInbox } from '../../support/daemon/provision.ts'
import { waitFor } from '../../support/waits.ts'
import type { GuideWalk } from './guide-walk.ts'

type Row = Record<string, unknown>

async function captured({ rest }: Daemon): Promise<Row[]> {
  return Array.fromAsync(rest.rows(`/v1/inboxes/${await catchAllInbox(rest)}/messages`))
}

/** Waits for `count` captured messages and returns them. */
export const arrived = (daemon: Daemon, walk: GuideWalk, count: number): Promise<Row[]> =>
  waitFor(`${String(count)} messages; the programs said: ${walk.output}`, async () => {
    const found = await captured(daemon)
    return found.length < count ? undefined : found
  })
