/** Theme editor: design tokens on the left, the form in the middle, contrast checks on the right. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { defaultPalettes, paletteOf, type Shade } from '#core/forms/definition/contrast.ts'
import { colorNames, type ColorName, type Colors, type Theme } from '#core/forms/definition/definition.ts'
import { go, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { DraftFrame, showable, type DraftView } from '../form-designer/draft-frame.tsx'
import type { PartProps } from '../forms/part-props.ts'
import { ChooseField, Segments, TextField, useTyped } from '../parts/controls.tsx'
import { ContrastMeter } from './contrast-meter.tsx'
import { texts } from './parts-texts.ts'

type SetTheme = (changes: Partial<Theme>, place: string) => void

const presets: Readonly<Record<keyof ReturnType<typeof texts>['themes'], Partial<Theme>>> = {
  paper: { mode: 'auto', colors: {}, dark_colors: {}, radius: 'md', font: 'system' },
  harvest: {
    ...{ mode: 'light', dark_colors: {}, radius: 'lg', font: 'serif' },
    colors: {
      ...{ primary: '#97391a', background: '#f1e3ce', surface: '#fffbf4', text: '#2b1e13', muted: '#66513c', border: '#967c60' },
      error: '#a3122a',
    },
  },
  volt: {
    ...{ mode: 'light', dark_colors: {}, radius: 'none', font: 'system' },
    colors: {
      ...{ primary: '#4a1fd0', background: '#ffd927', surface: '#ffffff', text: '#15120a', muted: '#514a34', border: '#7c765f' },
      error: '#b00020',
    },
  },
  round: {
    ...{ mode: 'light', dark_colors: {}, radius: 'full', font: 'rounded' },
    colors: {
      ...{ primary: '#a01f63', background: '#fbe6ef', surface: '#ffffff', text: '#2a1020', muted: '#6c4659', border: '#957086' },
      error: '#b3261e',
    },
  },
  night: { mode: 'dark', colors: {}, dark_colors: {}, radius: 'md', font: 'system' },
}

const presetNames = Object.keys(presets) as readonly (keyof typeof presets)[]
const views = ['form', 'errors', 'thanks'] as const satisfies readonly DraftView[]

export default function ThemePart({ editing }: PartProps): JSX.Element {
  const w = texts()
  const { definition, change } = editing
  const { theme } = definition
  const [wanted, setWanted] = useState<Shade>('light')
  const shade = theme.mode === 'auto' ? wanted : theme.mode
  const view = views.find((one) => one === query.value.get('view')) ?? 'form'
  const set: SetTheme = (changes, place) => change((before) => ({ ...before, theme: { ...before.theme, ...changes } }), place)
  const shown = showable(definition)
  return (
    <div class="theming">
      <section class="theme-tokens" aria-label={w.colors} tabIndex={mayChange.value ? undefined : 0}>
        <fieldset disabled={!mayChange.value}>
          <Presets onChoose={(preset) => set(preset, '')} />
          <Segments
            label={w.mode}
            value={theme.mode}
            onChoose={(mode) => set({ mode }, '')}
            choices={(['light', 'dark', 'auto'] as const).map((value) => ({ value, label: w.modes[value] }))}
          />
          <Palette theme={theme} shade={shade} onShade={setWanted} set={set} />
          <Shape theme={theme} set={set} />
        </fieldset>
      </section>
      <section class="canvas" aria-label={w.livePreview}>
        <div class="reader-bar">
          <Segments
            label={w.viewOf}
            value={view}
            onChoose={(next) => go(linkHere({ view: next === 'form' ? '' : next }), { replaces: true })}
            choices={views.map((value) => ({ value, label: w.views[value] }))}
          />
        </div>
        <div class="stage" tabIndex={0} role="group" aria-label={w.livePreview}>
          {shown && (
            <div class="drawn">
              <DraftFrame definition={shown.definition} view={view} title={w.livePreview} isStill isDark={shade === 'dark'} />
            </div>
          )}
        </div>
      </section>
      <ContrastMeter theme={theme} shade={shade} onFix={(name, color) => set(withColor(theme, shade, name, color), `color ${name}`)} />
    </div>
  )
}

const Presets = ({ onChoose }: { readonly onChoose: (preset: Partial<Theme>) => void }): JSX.Element => {
  const w = texts()
  return (
    <div class="property-part">
      <h2>{w.startFrom}</h2>
      <div class="presets" role="group" aria-label={w.startFrom}>
        {presetNames.map((name) => {
          const { colors = {}, mode } = presets[name]
          const { background, primary } = { ...defaultPalettes[mode === 'dark' ? 'dark' : 'light'], ...colors }
          return (
            <button key={name} type="button" onClick={() => onChoose(presets[name])}>
              <svg viewBox="0 0 60 32" aria-hidden="true">
                <rect width="60" height="32" fill={background} />
                <rect x="38" width="22" height="32" fill={primary} />
              </svg>
              {w.themes[name]}
            </button>
          )
        })}
      </div>
    </div>
  )
}

function withColor(theme: Theme, shade: Shade, name: ColorName, color: string | undefined): Partial<Theme> {
  const part = shade === 'dark' ? 'dark_colors' : 'colors'
  const { [name]: _gone, ...others } = theme[part]
  return { [part]: { ...others, ...(color !== undefined && { [name]: color }) } satisfies Colors }
}

interface PaletteProps {
  readonly theme: Theme
  readonly shade: Shade
  readonly onShade: (shade: Shade) => void
  readonly set: SetTheme
}

function Palette({ theme, shade, onShade, set }: PaletteProps): JSX.Element {
  const w = texts()
  const palette = paletteOf(theme, shade)
  return (
    <div class="property-part">
      <h2>{w.colors}</h2>
      {theme.mode === 'auto' && (
        <Segments
          label={w.shade}
          value={shade}
          onChoose={onShade}
          choices={(['light', 'dark'] as const).map((value) => ({ value, label: w.shades[value] }))}
        />
      )}
      <ul class="color-fields">
        {colorNames.map((name) => (
          <ColorField
            key={`${shade} ${name}`}
            name={name}
            color={palette[name]}
            onChange={(color) => set(withColor(theme, shade, name, color), `color ${name}`)}
          />
        ))}
      </ul>
    </div>
  )
}

interface ColorProps {
  readonly name: ColorName
  readonly color: string
  readonly onChange: (color: string | undefined) => void
}

function ColorField({ name, color, onChange }: ColorProps): JSX.Element {
  const w = texts()
  const { name: title, text } = w.color[name]
  const [typed, setTyped] = useTyped(color)
  return (
    <li>
      <input type="color" aria-label={String(title)} value={color} onInput={(event) => onChange(event.currentTarget.value)} />
      <span>
        {title}
        <small>{text}</small>
      </span>
      <input
        class="input mono"
        aria-label={w.hexOf({ name: String(title) })}
        value={typed}
        spellcheck={false}
        maxLength={7}
        onInput={(event) => {
          const next = event.currentTarget.value
          setTyped(next)
          if (/^#[0-9a-f]{6}$/i.test(next)) onChange(next.toLowerCase())
          if (next === '') onChange(undefined)
        }}
      />
    </li>
  )
}

function Shape({ theme, set }: { readonly theme: Theme; readonly set: SetTheme }): JSX.Element {
  const w = texts()
  const { logo } = theme
  const setLogo = (src: string, alt: string): void => set({ logo: src === '' ? null : { src, alt } }, 'logo')
  return (
    <div class="property-part">
      <ChooseField
        label={w.radius}
        value={theme.radius}
        onChange={(radius) => set({ radius: radius as Theme['radius'] }, '')}
        options={Object.entries(w.radii)}
      />
      <ChooseField
        label={w.font}
        hint={w.fontHint}
        value={theme.font}
        onChange={(font) => set({ font: font as Theme['font'] }, '')}
        options={Object.entries(w.fonts)}
      />
      <TextField label={w.logo} type="url" value={logo?.src ?? ''} onChange={(src) => setLogo(src, logo?.alt ?? '')} />
      {logo && <TextField label={w.logoAlt} value={logo.alt} onChange={(alt) => setLogo(logo.src, alt)} />}
    </div>
  )
}
