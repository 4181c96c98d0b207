/** List of the sections of the settings in groups: a column next to a section, or a page on narrow windows. */
import type { JSX } from 'preact'
import type { FrameSections } from './frame.ts'
import { BadgeCount } from './badge.tsx'

interface SectionListProps {
  readonly groups: readonly FrameSections[]
  readonly label: string
}

export const SectionList = ({ groups, label }: SectionListProps): JSX.Element => (
  <nav class="sections" aria-label={label}>
    {groups.map(({ title, links }) => (
      <div key={links[0]?.href}>
        <h2 class="cut">{title}</h2>
        {links.map(({ href, label: name, isCurrent, badge }) => (
          <a key={href} href={href} aria-current={isCurrent ? 'page' : undefined}>
            <span>{name}</span>
            <BadgeCount badge={badge} />
          </a>
        ))}
      </div>
    ))}
  </nav>
)
