/** File sizes for browsers and the service. */

/** Rounds down: `9.5 MB`, or `900 kB`. */
export function sizeIn(language: string, octets: number): string {
  const [unit, of] = octets < 2 ** 20 ? ['kilobyte', 2 ** 10] : ['megabyte', 2 ** 20]
  const format = new Intl.NumberFormat(language, { style: 'unit', unit, maximumFractionDigits: 1 })
  return format.format(Math.floor((octets / of) * 10) / 10)
}
