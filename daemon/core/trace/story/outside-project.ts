/** What a caller who is bound to one project sees of suppressions outside it: that they apply, and nothing else. Pure. */
import type { Principal } from '../../access/principal/principal.ts'
import type { RecipientSuppression, Trace } from '../trace.ts'

/** Stands for the id and the source of an entry outside the project. */
export const outsideProject = 'outside_project'

type Caller = Pick<Principal, 'bound' | 'projectId'>
type Applied = Omit<RecipientSuppression, 'at'>

/** Traces of earlier releases do not say from which project an entry came. */
const isOutside = ({ projectId }: Caller, { projectId: from, source }: Applied): boolean =>
  from === undefined ? source !== 'unsubscribe' : from !== projectId

/** The suppression as the caller may see it. */
export const suppressionSeenBy = <S extends Applied>(caller: Caller, suppression: S): S =>
  caller.bound && isOutside(caller, suppression)
    ? { ...suppression, id: outsideProject, source: outsideProject, reason: null }
    : suppression

/** The trace as the caller may see it. */
export function traceSeenBy(caller: Caller, trace: Trace): Trace {
  if (!caller.bound || trace.recipients.every(({ suppression }) => suppression === undefined)) return trace
  const recipients = trace.recipients.map((recipient) =>
    recipient.suppression ? { ...recipient, suppression: suppressionSeenBy(caller, recipient.suppression) } : recipient,
  )
  return { ...trace, recipients }
}
