/** Routing of a reply from the chosen sender, and whether it would leave the service. */
import type { JSX } from 'preact'
import { useRead } from '../app/query.ts'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { texts } from '../submissions/submissions-texts.ts'

interface ThroughProps {
  readonly from: string
  readonly to: string
  readonly projectId: string | undefined
}

export function Through({ from, to, projectId }: ThroughProps): JSX.Element | null {
  const w = texts()
  const address = /<([^<>]+)>$/.exec(from)?.[1] ?? from
  const isAsked = projectId !== undefined && /^[^\s@]+@[^\s@]+$/.test(address)
  const { data } = useRead('POST /v1/routing/simulate', isAsked ? { body: { project_id: projectId, from: address, to } } : undefined)
  if (!data) return null
  const isRelayed = data.refusal === null && data.outcome === 'relayed'
  return (
    <span role="status">
      {data.destination && (
        <>
          <span class="faint">{w.through}</span>{' '}
          <b>
            <SafeText text={data.destination.name} />
          </b>{' '}
        </>
      )}
      {!isRelayed && (
        <span class="status">
          <Mark name={data.refusal ? 'refused' : 'captured'} /> {data.refusal ? data.refusal.code : w.wouldBeCaptured}
        </span>
      )}
    </span>
  )
}
