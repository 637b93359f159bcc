use super::*;

fn figure() -> Figure {
    let series = |style, scale: f64| Series {
        label: format!("arm <{style}>"),
        style,
        points: (0..5)
            .map(|i| Dot {
                x: f64::from(i),
                y: scale * f64::from(i),
                interval: Some((scale * f64::from(i) - 0.1, scale * f64::from(i) + 0.1)),
            })
            .collect(),
    };
    let panel = |shape, categories: &[&str]| Panel {
        title: "a & b".to_owned(),
        shape,
        x: Axis { label: "buffer".to_owned(), log: false },
        y: Axis { label: "share".to_owned(), log: false },
        categories: categories.iter().map(|&c| c.to_owned()).collect(),
        series: vec![series(0, 1.0), series(1, 2.0)],
        ..Panel::default()
    };
    Figure {
        id: "sample-fig1".to_owned(),
        title: "A <title>".to_owned(),
        paper: "Sample".to_owned(),
        kind: "run".to_owned(),
        panels: vec![
            panel(Shape::Lines, &[]),
            panel(Shape::Bars, &["a", "b", "c", "d", "e"]),
            panel(Shape::Steps, &[]),
            panel(Shape::Dots, &[]),
        ],
        claims: [Some(true), Some(false), None]
            .map(|holds| Claim {
                text: "it <grows>".to_owned(),
                measured: "1 < 2".to_owned(),
                holds,
                ..Claim::default()
            })
            .to_vec(),
        ..Figure::default()
    }
}

#[test]
fn a_page_has_every_plot_twice_and_every_claim() {
    let page = render_figure(&figure());
    assert_eq!(page.matches("<svg class=\"plot-wide\"").count(), 4);
    assert_eq!(page.matches("<svg class=\"plot-narrow\"").count(), 4);
    assert_eq!(page.matches("<rect").count(), 20, "ten bars in each size");
    assert!(page.contains("1 of 2 checked claims hold"));
    assert!(page.contains("<title>arm &lt;1&gt; at c: 4.00 (3.90 to 4.10)</title>"), "a bar says what it is");
    assert!(page.contains("plot-grid") && !page.contains("Quick:"));
    let quick = render_figure(&Figure { quick: Some("2 of 5 points".to_owned()), ..figure() });
    assert!(quick.contains("<p class=\"warning\">Quick: 2 of 5 points</p>"));
    assert_eq!(page.matches("aria-label=\"holds\"").count(), 1);
    assert_eq!(page.matches("aria-label=\"does not hold\"").count(), 1);
    assert!(!page.contains("<title>A <") && !page.contains("<grows>") && !page.contains("arm <0>"));
}

#[test]
fn links_within_a_page_lead_somewhere() {
    for figure in [figure(), Figure { claims: Vec::new(), panels: Vec::new(), ..figure() }] {
        let page = render_figure(&figure);
        let places: Vec<&str> =
            page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(places.len() >= 2, "{places:?}");
        for place in places {
            assert!(page.contains(&format!("id=\"{place}\"")), "{place}");
        }
    }
}

#[test]
fn a_claim_that_its_paper_contradicts_counts_neither_way() {
    let mut figure = figure();
    figure.claims[1].contradicted = Some(Contradiction {
        why: "its own <table>".to_owned(),
        proof: vec![("9 < 10".to_owned(), "9".to_owned())],
    });
    let page = render_figure(&figure);
    assert!(page.contains("1 of 1 checked claims hold. One more is contradicted by the paper itself."));
    assert!(
        page.contains("The paper contradicts it: its own &lt;table&gt;")
            && page.contains("<code>9 &lt; 10</code> 9")
    );
    assert!(!page.contains("does not hold") && !page.contains("No reason is known"));
    let index = render_index(&Index { figures: vec![&figure], ..Index::default() });
    assert!(index.contains("1 of 1 hold</span><span class=\"tag\">≠ 1</span>"), "{index}");
}

#[test]
fn the_index_leads_to_every_page_and_counts() {
    let figure = figure();
    let other = Figure {
        id: "sample-fig2".to_owned(),
        kind: "diagram".to_owned(),
        panels: Vec::new(),
        ..figure.clone()
    };
    let page = render_index(&Index {
        figures: vec![&figure, &other],
        command: "ramp reproduce --all".to_owned(),
        ..Index::default()
    });
    assert!(page.contains("href=\"sample-fig1.html\"") && page.contains("href=\"sample-fig2.html\""));
    assert!(page.contains("2 of 4 checked claims hold"));
    assert_eq!(page.matches("<svg class=\"thumbnail\"").count(), 1);
    assert_eq!(page.matches("class=\"thumbnail").count(), 1, "no box where nothing is drawn");
    assert!(page.contains("ramp reproduce --all"));
}

#[test]
fn lines_to_compare_with_are_on_the_plots_and_not_on_the_cards() {
    let mut figure = figure();
    figure.panels.truncate(1);
    figure.panels[0].lines =
        vec![("BDP".to_owned(), None, Some(30.0)), ("150 Mbit/s".to_owned(), Some(2.0), None)];
    figure.panels[0].range = Some((0.0, 40.0));
    let page = render_figure(&figure);
    assert_eq!(page.matches("class=\"compared\"").count(), 4, "two in each size");
    assert!(page.contains(">BDP</text>") && page.contains(">40</text>"), "both axes reach them: {page}");
    let index = render_index(&Index {
        figures: vec![&figure],
        notice: Some("Quick: <few>".to_owned()),
        ..Index::default()
    });
    assert!(
        !index.contains("class=\"compared\"")
            && index.contains("<p class=\"warning\">Quick: &lt;few&gt;</p>")
    );
}

#[test]
fn everything_is_drawn_inside() {
    let mut figure = figure();
    figure.panels[0].series[0].points[1].y = f64::NAN;
    figure.panels[0].y.log = true;
    let page = render_figure(&figure);
    assert!(!page.contains("NaN") && !page.contains("inf"), "a value that is none is not drawn");
}
