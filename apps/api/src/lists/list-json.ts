export interface ListPage {
  /** JSON texts. */
  readonly items: readonly string[];
  readonly nextCursor: string | null;
  readonly limit: number;
  readonly count?: { readonly count: number; readonly atLeast: boolean } | null;
}

/** The JSON text of a list. */
export function listJson({ items, nextCursor, limit, count }: ListPage): string {
  const total = count ? `,"count":${count.count},"atLeast":${count.atLeast}` : '';
  return `{"items":[${items.join()}],"nextCursor":${JSON.stringify(nextCursor)},"limit":${limit}${total}}`;
}
