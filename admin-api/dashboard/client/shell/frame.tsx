/** Places the current screen: trail, tabs and the settings column of its top bar. */
import { bareFrame, type Frame, type FrameLink, type FrameSections } from '../frame/frame.ts'
import { boot } from '../app/boot.ts'
import { link, organization } from '../app/location.ts'
import { homeProject } from '../app/projects.ts'
import { plain } from '../parts/safe-text.tsx'
import { texts } from '../texts/shell-texts.ts'
import { sectionGroups, type Label, type Screen, type SectionGroup } from '../screens/screen.ts'
import { badgeOf, entryOf, isListed, screens, tabsOf } from '../screens/screens.ts'

/** Returns the label of an entry of the navigation. */
export const entryLabel = ({ entry, label }: Screen): Label => entry ?? label

const linkTo = (screen: Screen, label: Label, isCurrent: boolean): FrameLink => ({
  ...{ href: link(screen.at), label: label(texts()), isCurrent },
  badge: badgeOf([screen]),
})

/** Returns the settings column with the current section. */
function settingsColumn(current: Screen): readonly FrameSections[] {
  const w = texts()
  const titles: Readonly<Record<SectionGroup, string>> = {
    project: plain(homeProject()?.name ?? w.project),
    access: w.sections.access,
    events: w.sections.events,
    organization: plain(organization.value?.name ?? w.organizations),
    person: boot.email,
  }
  return sectionGroups
    .map((group) => ({
      title: titles[group],
      links: screens
        .filter((one) => one.section === group && isListed(one))
        .map((one) => linkTo(one, one.label, one === current || one.at === current.within)),
    }))
    .filter(({ links }) => links.length > 0)
}

/** Returns the frame of a screen. */
export function frameOf(screen: Screen | undefined): Frame {
  if (!screen || !boot.email) return bareFrame
  const entry = entryOf(screen)
  const tabs = tabsOf(screen)
  const isSection = screen.section !== undefined || (screen.tab !== undefined && entry.at === '/settings')
  const isInside = entry !== screen || tabs.length > 0
  return {
    trail: isInside ? [{ href: link(entry.at), label: entryLabel(entry)(texts()), isCurrent: false }] : [],
    title: isSection ? undefined : entryLabel(entry)(texts()),
    tabs: tabs.length > 1 ? tabs.map((one) => linkTo(one, one.tab ?? one.label, one === screen)) : [],
    sections: isSection || screen.at === '/settings' ? settingsColumn(screen) : [],
  }
}
