/** Number of pending or broken items, after the label of a link. */
import type { JSX } from 'preact'
import type { Badge } from '../app/open.ts'
import { Mark } from '../parts/mark.tsx'
import { number } from '../parts/time.ts'

export function BadgeCount({ badge }: { readonly badge: Badge | undefined }): JSX.Element | null {
  if (!badge || badge.count === 0) return null
  const { count, hasMore = false, isBroken = false } = badge
  return (
    <span class={isBroken ? 'count broken' : 'count'}>
      {isBroken && <Mark name="failed" />}
      {number(count)}
      {hasMore && '+'}
    </span>
  )
}
