use leptos::{prelude::*, svg};

/// The icons in use, from Lucide.
pub mod icons {
    pub use icondata_lu::{
        LuActivity as ACTIVITY, LuArrowDown as ARROW_DOWN, LuArrowUp as ARROW_UP, LuBell as BELL,
        LuBookmark as BOOKMARK, LuBox as BOX, LuBoxes as BOXES, LuCheck as CHECK,
        LuChevronDown as CHEVRON_DOWN, LuChevronRight as CHEVRON_RIGHT,
        LuChevronUp as SEVERITY_WARNING, LuChevronsUp as SEVERITY_CRITICAL, LuCircleCheck as OK,
        LuCircleDashed as UNKNOWN, LuCircleHelp as HELP, LuClock as CLOCK, LuColumns3 as COLUMNS,
        LuCopy as COPY, LuDownload as DOWNLOAD, LuEqual as SEVERITY_OTHER,
        LuExternalLink as EXTERNAL, LuFolder as FOLDER, LuFunnel as FILTER, LuInfo as INFO,
        LuKeyRound as KEY, LuLayers as LAYERS, LuLayoutDashboard as DASHBOARD,
        LuLayoutGrid as GRID, LuLibrary as KINDS, LuLoader as PROGRESS, LuLock as LOCK,
        LuLogOut as SIGN_OUT, LuMenu as MENU, LuMinus as MINUS, LuMonitorSmartphone as SESSIONS,
        LuMoon as MOON, LuOctagonX as FAILED, LuPackage as PACKAGE, LuPause as PAUSE,
        LuPlay as PLAY, LuPlus as PLUS, LuRefreshCw as REFRESH, LuRotateCw as ROTATE,
        LuScale as SCALE, LuScrollText as LOGS, LuSearch as SEARCH, LuServer as SERVER,
        LuShield as SHIELD, LuSun as SUN, LuSunMoon as SUN_MOON, LuTag as TAG,
        LuTerminal as TERMINAL, LuTrash2 as TRASH, LuTriangleAlert as WARNING, LuUndo2 as UNDO,
        LuUser as USER, LuX as CLOSE,
    };
}

/// An icon beside text with the same meaning; screen readers skip it.
#[component]
pub fn Icon(icon: icondata_core::Icon, #[prop(optional)] large: bool) -> impl IntoView {
    svg::svg()
        .attr("class", if large { "icon icon-lg" } else { "icon" })
        .attr("viewBox", "0 0 24 24")
        .attr("fill", "none")
        .attr("stroke", "currentColor")
        .attr("stroke-width", "2")
        .attr("stroke-linecap", "round")
        .attr("stroke-linejoin", "round")
        .attr("aria-hidden", "true")
        .inner_html(icon.data)
        .into_any()
}
